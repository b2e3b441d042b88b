// Consents are sealed in batches after a few seconds, so visitors never wait for the chain.
import { setImmediate } from 'node:timers/promises';

import { type Selectable, sql } from 'kysely';

import { appendEntries, lockChain, type NewEntry, signedHead } from '#server/consent/chain.ts';
import { readRows } from '#server/consent/row-facts.ts';
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

/** By then, the result of sending the code mail is stored, or never will be. */
const MAIL_PATIENCE_MS = 60_000;
/** A row may be committed this long after one with a higher ID. */
export const OVERLAP_MS = 2 * MAIL_PATIENCE_MS;
/**
 * During a change of APP_SECRET, processes without the new secret leave sealing to the others. After this time, they
 * consider the signature foreign and seal consents unsigned.
 */
const SECRET_CHANGE_MS = HOUR_MS;
const PAGE_SIZE = 1_000;
const BATCH_SIZE = 100;

/**
 * Starts where the last complete round may have left rows, so none are missed if the process is suspended or the clock
 * changes.
 */
export function createSealer(parts: SealerParts, shouldStop: () => boolean): () => Promise<void> {
  let begin = '';
  return async () => {
    const settledUpTo = lowestIdAt(parts.clock() - OVERLAP_MS);
    const { left } = await sealConsents(parts, {
      begin: lower(begin, settledUpTo),
      shouldStop,
      rest: createRests(),
    });
    // After a stop, null is harmless, because the process then ends.
    begin = left === null ? settledUpTo : lower(settledUpTo, lowestIdAt(timeOfId(left) - OVERLAP_MS));
  };
}

const lower = (one: string, other: string): string => (one < other ? one : other);

/**
 * Seals in the order of IDs, up to the first row that must wait.
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

/** @returns pages of IDs, possibly empty */
export async function* unsealedPages(db: Db, begin: string): AsyncGenerator<readonly string[], void, void> {
  // SQLite allows a limit within a union only in a subquery.
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

/** With a join, PostgreSQL would read the whole chain to find a few rows. */
const positionOf = (id: 'r.id' | 'u.row_id') =>
  sql`(select c.position from consent_chain c where c.row_id = ${sql.ref(id)} limit 1)`;

async function sealBatch(
  { database: { db }, secrets, mail: { messageIdOf }, config: { publicUrl }, clock }: SealerParts,
  ids: readonly string[],
): Promise<{ readonly sealed: number; readonly left: string | null }> {
  const now = clock();
  return db.transaction().execute(async (tx) => {
    await lockChain(tx);
    if (await isSignedByOtherSecret(tx, secrets, now)) return { sealed: 0, left: ids[0]! };
    const unsealedRows = sql<{ readonly row_id: string; readonly kind: 'consent' | 'withdrawal' }>`
      select u.* from (
        select id as row_id, 'consent' as kind from consent_receipts union all select id, 'withdrawal' from withdrawals
      ) u
      where u.row_id in (${sql.join(ids)}) and ${positionOf('u.row_id')} is null
    `;
    const rows = await readRows(tx, unsealedRows, 'row_id');
    const mails = await mailsOf(tx, ids, now);
    const waiting = rows.findIndex(({ row_id: id }) => mails.get(id)?.is_on_its_way);
    const added = rows.slice(0, waiting < 0 ? rows.length : waiting).flatMap((row) => {
      const { row_id: rowId, kind, facts, isComplete } = row;
      // The lead or its form was deleted.
      if (facts === null || !isComplete) return [];
      const { mail_id: id, finished_at: at, reply = null } = mails.get(rowId) ?? {};
      const mail = { message_id: id ? messageIdOf(id) : null, mailed_at: at ? isoTime(at) : null, reply };
      return [
        {
          kind,
          rowId,
          content: kind === 'consent' ? { ...facts, page: publicUrl, ...mail } : facts,
        } as NewEntry,
      ];
    });
    await appendEntries(tx, added, { secrets, now });
    return { sealed: added.length, left: rows[waiting]?.row_id ?? null };
  });
}

async function isSignedByOtherSecret(tx: Db, secrets: Secrets, now: number): Promise<boolean> {
  const signed = await signedHead(tx, secrets);
  return signed !== null && !signed.isGenuine && Math.abs(now - signed.signedAt) < SECRET_CHANGE_MS;
}

type Mail = Pick<Selectable<Schema['outbox']>, 'finished_at' | 'reply'> & {
  readonly mail_id: string;
  readonly is_on_its_way: boolean | number;
};

/**
 * While a mail is being sent, the mail server's reply isn't stored yet. The entered code and the receipt have
 * the same time (verify-code.ts).
 */
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
