// Consents are sealed in batches after a few seconds, so visitors never wait for the chain.
import { setImmediate } from 'node:timers/promises';

import { type RawBuilder, type Selectable, sql } from 'kysely';

import { appendEntries, lockChain, type NewEntry, signedHead } from '#server/consent/chain.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { lowestIdAt, timeOfId } from '#server/db/engine/ids.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import type { Schema } from '#server/db/all-tables.ts';
import type { OpenMail } from '#server/mail/mail.ts';
import { createRests } from '#server/platform/background-work.ts';
import { HOUR_MS, isoTime } from '#server/platform/time.ts';
import type { Secrets } from '#server/secrets/secrets.ts';

export type SealerParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly mail: Pick<OpenMail, 'messageIdOf'>;
  readonly config: { readonly publicUrl: string };
  readonly clock: () => number;
};

/** By then the code mail's result is stored, or never will be. */
const MAIL_PATIENCE_MS = 60_000;
/** A row may be committed this much later than one with a higher ID. */
export const OVERLAP_MS = 2 * MAIL_PATIENCE_MS;
/**
 * During a change of APP_SECRET, processes without it leave sealing to the others. After this time the signature counts as a
 * stranger's, and consents are sealed unsigned.
 */
const SECRET_CHANGE_MS = HOUR_MS;
const PAGE_SIZE = 1_000;
const BATCH_SIZE = 100;

/** Starts where the last complete round may have left rows, so a suspended process or a moved clock omits none. */
export function createSealer(parts: SealerParts, shouldStop: () => boolean): () => Promise<void> {
  let begin = '';
  return async () => {
    const newest = lowestIdAt(parts.clock() - OVERLAP_MS);
    const { left } = await sealConsents(parts, {
      begin: lower(begin, newest),
      shouldStop,
      rest: createRests(),
    });
    // Null after a stop too, because the process then ends.
    begin = left === null ? newest : lower(newest, lowestIdAt(timeOfId(left) - OVERLAP_MS));
  };
}

const lower = (one: string, other: string): string => (one < other ? one : other);

/**
 * Seals by ID, up to the first row that must wait.
 * @param options begin: ID before the first row, or empty. onSealed: gets the number sealed so far. rest: awaited after each
 * batch and each page of sealed rows
 * @returns left: the waiting row
 */
export async function sealConsents(
  parts: SealerParts,
  {
    begin = '',
    shouldStop = () => false,
    onSealed = () => {},
    rest = setImmediate,
  }: {
    begin?: string;
    shouldStop?: () => boolean;
    onSealed?: (sealed: number) => void;
    rest?: () => Promise<unknown>;
  } = {},
): Promise<{ readonly sealed: number; readonly left: string | null }> {
  let sealed = 0;
  for await (const unsealed of unsealedPages(parts.database.db, begin)) {
    if (shouldStop()) break;
    if (unsealed.length === 0) await rest();
    for (let from = 0; from < unsealed.length && !shouldStop(); from += BATCH_SIZE) {
      const ids = unsealed.slice(from, from + BATCH_SIZE);
      const batch = await sealBatch(parts, ids);
      sealed += batch.sealed;
      onSealed(sealed);
      if (batch.left !== null) return { sealed, left: batch.left };
      await rest();
    }
  }
  return { sealed, left: null };
}

/**
 * @param begin ID before the first row, or empty
 * @returns pages of IDs, possibly empty
 */
export async function* unsealedPages(db: Db, begin: string): AsyncGenerator<readonly string[], void, void> {
  const pageOf = (table: 'consent_receipts' | 'withdrawals', after: string) =>
    sql`select * from (select id from ${sql.table(table)} where id > ${after} order by id limit ${PAGE_SIZE}) ${sql.ref(table)}`;
  const readAfter = async (after: string) => {
    const { rows } = await sql<{ id: string; position: number | null }>`
      select r.id, ${positionOf('r.id')} as position
      from (${pageOf('consent_receipts', after)} union all ${pageOf('withdrawals', after)}) r
      order by r.id limit ${PAGE_SIZE}
    `.execute(db);
    return rows;
  };
  for await (const page of pagesAfter(begin, readAfter, ({ id }) => id))
    yield page.filter(({ position }) => position === null).map(({ id }) => id);
}

/** With a join, PostgreSQL would read a long chain for a few rows. */
const positionOf = (id: 'r.id' | 'u.row_id') =>
  sql`(select c.position from consent_chain c where c.row_id = ${sql.ref(id)} limit 1)`;

async function sealBatch(
  {
    database: { db, engine },
    secrets,
    mail: { messageIdOf },
    config: { publicUrl: page },
    clock,
  }: SealerParts,
  ids: readonly string[],
): Promise<{ readonly sealed: number; readonly left: string | null }> {
  const now = clock();
  return db.transaction().execute(async (tx) => {
    await lockChain(tx, engine);
    if (await isSignedByNewerSecret(tx, secrets, now)) return { sealed: 0, left: ids[0]! };
    const unsealed = sql<{ readonly row_id: string; readonly kind: 'consent' | 'withdrawal' }>`
      select u.* from (
        select id as row_id, 'consent' as kind from consent_receipts union all select id, 'withdrawal' from withdrawals
      ) u
      where u.row_id in (${sql.join(ids)}) and ${positionOf('u.row_id')} is null
    `;
    const rows = await readRows(tx, unsealed, 'row_id');
    const mails = await mailsOf(tx, ids, now);
    const waiting = rows.findIndex(({ row_id: id }) => mails.get(id)?.is_on_its_way);
    const added = rows.slice(0, waiting < 0 ? rows.length : waiting).flatMap((row) => {
      const { row_id: rowId, kind, facts, isComplete } = row;
      if (facts === null || !isComplete) return [];
      const { mail_id: id, finished_at: at, reply = null } = mails.get(rowId) ?? {};
      const mail = { message_id: id ? messageIdOf(id) : null, mailed_at: at ? isoTime(at) : null, reply };
      return [{ kind, rowId, content: kind === 'consent' ? { ...facts, page, ...mail } : facts } as NewEntry];
    });
    await appendEntries(tx, added, { secrets, now });
    return { sealed: added.length, left: rows[waiting]?.row_id ?? null };
  });
}

async function isSignedByNewerSecret(tx: Db, secrets: Secrets, now: number): Promise<boolean> {
  const signed = await signedHead(tx, secrets);
  return signed !== null && !signed.isGenuine && Math.abs(now - signed.signedAt) < SECRET_CHANGE_MS;
}

type Mail = Pick<Selectable<Schema['outbox']>, 'finished_at' | 'reply'> & {
  readonly mail_id: string;
  readonly is_on_its_way: boolean | number;
};

/** While a mail is being sent, the mail server's reply isn't stored yet. */
async function mailsOf(tx: Db, ids: readonly string[], now: number): Promise<ReadonlyMap<string, Mail>> {
  const [from, to] = [now - MAIL_PATIENCE_MS, now + MAIL_PATIENCE_MS];
  const { rows } = await sql<Mail & { readonly id: string }>`
    select r.id, m.id as mail_id, m.finished_at, m.reply,
      m.state = 'queued' and r.verified_at between ${from} and ${to} as is_on_its_way
    from consent_receipts r
    join leads l on l.id = r.lead_id
    join submissions s on s.id = r.submission_id
    join outbox m on m.code_id = (
      select c.id from codes c where c.email = l.email and c.used_at = r.verified_at
      order by c.submission_id <> s.id, c.id limit 1
    )
    where r.id in (${sql.join(ids)})
  `.execute(tx);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Times are ISO 8601 in UTC; null is unknown. */
type Facts = Pick<
  Selectable<Schema['consent_receipts']>,
  'consent_version' | 'client_address' | 'verified_from_address' | 'user_agent' | 'same_browser'
> &
  Pick<Selectable<Schema['submissions']>, 'email' | 'name' | 'company' | 'answers'> &
  Pick<Selectable<Schema['withdrawals']>, 'way'> &
  Pick<Selectable<Schema['suppression_removals']>, 'reasons' | 'note'> & {
    readonly wording: string;
    readonly given_at: string;
    readonly verified_at: string;
    readonly withdrawn_at: string;
    readonly removed_at: string;
  };

const SEALED = {
  consent: [
    'email',
    'name',
    'company',
    'answers',
    'consent_version',
    'wording',
    'given_at',
    'client_address',
    'user_agent',
    'verified_at',
    'verified_from_address',
    'same_browser',
  ],
  withdrawal: ['email', 'way', 'withdrawn_at', 'client_address', 'user_agent'],
  removal: ['email', 'reasons', 'note', 'removed_at'],
} as const satisfies Readonly<Record<string, readonly (keyof Facts)[]>>;

type RowKind = keyof typeof SEALED;
export type RowFacts = { readonly [Kind in RowKind]: Pick<Facts, (typeof SEALED)[Kind][number]> };

/**
 * One statement, so an erasure happens before or after it.
 * @param keys a query for the row_id and kind of each
 * @returns facts: null for a missing row; fields of missing referenced rows are null
 */
export async function readRows<Key extends { readonly kind: string }>(
  db: Db,
  keys: RawBuilder<Key>,
  order: keyof Key & string,
): Promise<readonly (Key & { readonly facts: RowFacts[RowKind] | null; readonly isComplete: boolean })[]> {
  const { rows } = await sql<Key & Facts & { readonly found: string | null }>`
    select k.*, coalesce(r.id, t.id, x.id) as found, l.email, s.name, s.company, s.answers, r.consent_version, w.text as wording,
      r.verified_from_address, r.same_browser, t.way, x.reasons, x.note,
      coalesce(r.client_address, t.client_address) as client_address, coalesce(r.user_agent, t.user_agent) as user_agent,
      ${timeOf('r.given_at')}, ${timeOf('r.verified_at')}, ${timeOf('t.withdrawn_at')}, ${timeOf('x.removed_at')}
    from (${keys}) k
    left join consent_receipts r on r.id = k.row_id
    left join withdrawals t on t.id = k.row_id
    left join suppression_removals x on x.id = k.row_id
    left join leads l on l.id = coalesce(r.lead_id, t.lead_id, x.lead_id)
    left join submissions s on s.id = r.submission_id
    left join consent_wordings w on w.version = r.consent_version
    order by k.${sql.ref(order)}
  `.execute(db);
  return rows.map((row) => {
    const isForm = row.kind !== 'consent' || (row.name !== null && row.wording !== null);
    const facts = row.found === null ? null : factsOf(row);
    return Object.assign(row, { facts, isComplete: row.email !== null && isForm });
  });
}

/** A forged number may be too large, so times are read as text. */
const timeOf = (column: string) => sql`cast(${sql.ref(column)} as text) as ${sql.ref(column.slice(2))}`;

function factsOf(row: Facts & { readonly kind: string }): RowFacts[RowKind] {
  const fields: readonly (keyof Facts)[] = SEALED[row.kind as RowKind] ?? ['email'];
  const facts = fields.map((field) => {
    const value = row[field];
    return [field, field.endsWith('_at') && value !== null ? isoTime(Number(value)) : value];
  });
  return Object.fromEntries(facts) as RowFacts[RowKind];
}
