// Consents and withdrawals are sealed in batches after a few seconds, so visitors never wait for the chain.
import { setImmediate } from 'node:timers/promises';

import { type Selectable, sql } from 'kysely';

import { appendEntries, lockChain, type NewEntry, signedHead } from '#server/consent/chain.ts';
import { readRowsInOrder } from '#server/consent/row-facts.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { lowestIdAt, timeOfId } from '#server/db/engine/ids.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import type { Schema } from '#server/db/all-tables.ts';
import type { OpenMail } from '#server/mail/mail.ts';
import { createThrottle } from '#server/platform/background-work.ts';
import { HOUR_MS, isoTime } from '#server/platform/time.ts';
import type { Secrets } from '#server/secrets/secrets.ts';

export type SealerParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly mail: Pick<OpenMail, 'messageIdOf'>;
  readonly config: { readonly publicUrl: string };
  readonly clock: () => number;
};

/** A consent waits this long after its verification for the result of its code mail. A result not stored by then never will be. */
const MAIL_RESULT_MS = 60_000;
/** Each round reads this much again, because a row may be committed after one with a higher ID. */
export const OVERLAP_MS = 2 * MAIL_RESULT_MS;
/**
 * While APP_SECRET is being changed, processes without the new secret leave sealing to the others. If no signature has followed
 * for this long, they take the last one for a forgery and seal consents unsigned, until the operator accepts it.
 */
const SECRET_CHANGE_MS = HOUR_MS;
const PAGE_SIZE = 1_000;
const BATCH_SIZE = 100;

/**
 * Returns a function that runs a round. A round starts where the last complete one may have left rows, so none are missed if the
 * process is suspended or the clock changes.
 */
export function createSealer(parts: SealerParts, shouldStop: () => boolean): () => Promise<void> {
  let afterId = '';
  return async () => {
    const settledUpTo = lowestIdAt(parts.clock() - OVERLAP_MS);
    const { waitingId } = await sealConsents(parts, {
      afterId: lowerId(afterId, settledUpTo),
      shouldStop,
      pause: createThrottle(),
    });
    // After a stop, waitingId is null too, but no round follows.
    afterId =
      waitingId === null ? settledUpTo : lowerId(settledUpTo, lowestIdAt(timeOfId(waitingId) - OVERLAP_MS));
  };
}

const lowerId = (one: string, other: string): string => (one < other ? one : other);

/**
 * Seals in the order of IDs, up to the first row that must wait.
 * @param options afterId: exclusive. onSealed: called with the number sealed so far. pause: awaited after each batch, and after
 * each page without unsealed rows.
 * @returns waitingId: the first row that must wait for its mail or for a process with another secret
 */
export async function sealConsents(
  parts: SealerParts,
  {
    afterId = '',
    shouldStop = () => false,
    onSealed = () => {},
    pause = setImmediate,
  }: {
    afterId?: string;
    shouldStop?: () => boolean;
    onSealed?: (sealed: number) => void;
    pause?: () => Promise<unknown>;
  } = {},
): Promise<{ readonly sealed: number; readonly waitingId: string | null }> {
  let sealed = 0;
  for await (const unsealed of unsealedPages(parts.database.db, afterId)) {
    if (shouldStop()) break;
    if (unsealed.length === 0) await pause();
    for (let from = 0; from < unsealed.length && !shouldStop(); from += BATCH_SIZE) {
      const ids = unsealed.slice(from, from + BATCH_SIZE);
      const batch = await sealBatch(parts, ids);
      sealed += batch.sealed;
      onSealed(sealed);
      if (batch.waitingId !== null) return { sealed, waitingId: batch.waitingId };
      await pause();
    }
  }
  return { sealed, waitingId: null };
}

/** @returns pages of IDs of unsealed rows, possibly empty */
export async function* unsealedPages(db: Db, afterId: string): AsyncGenerator<readonly string[], void, void> {
  // SQLite allows a limit within a union only in a subquery, whose alias is the table's name.
  const pageOf = (table: 'consent_receipts' | 'withdrawals', after: string) =>
    sql`select * from (select id from ${sql.table(table)} where id > ${after} order by id limit ${PAGE_SIZE}) ${sql.ref(table)}`;
  const readAfter = async (after: string) => {
    const { rows } = await sql<{ id: string; position: number | null }>`
      select sealable.id, ${positionOf('sealable.id')} as position
      from (${pageOf('consent_receipts', after)} union all ${pageOf('withdrawals', after)}) sealable
      order by sealable.id limit ${PAGE_SIZE}
    `.execute(db);
    return rows;
  };
  for await (const page of pagesAfter(afterId, readAfter, ({ id }) => id))
    yield page.filter(({ position }) => position === null).map(({ id }) => id);
}

/** A subquery, because for a join, PostgreSQL would read the whole chain. */
const positionOf = (id: 'sealable.id' | 'unsealed.row_id') =>
  sql`(select entry.position from consent_chain entry where entry.row_id = ${sql.ref(id)} limit 1)`;

async function sealBatch(
  { database: { db }, secrets, mail: { messageIdOf }, config: { publicUrl }, clock }: SealerParts,
  ids: readonly string[],
): Promise<{ readonly sealed: number; readonly waitingId: string | null }> {
  const now = clock();
  return db.transaction().execute(async (tx) => {
    await lockChain(tx);
    if (await hasRecentUnknownSignature(tx, secrets, now)) return { sealed: 0, waitingId: ids[0]! };
    // Another process may have sealed some of them before the lock.
    const stillUnsealed = sql<{ readonly row_id: string; readonly kind: 'consent' | 'withdrawal' }>`
      select unsealed.* from (
        select id as row_id, 'consent' as kind from consent_receipts union all select id, 'withdrawal' from withdrawals
      ) unsealed
      where unsealed.row_id in (${sql.join(ids)}) and ${positionOf('unsealed.row_id')} is null
    `;
    const rows = await readRowsInOrder(tx, stillUnsealed, 'row_id');
    const codeMails = await codeMailsOf(tx, ids, now);
    // Keeps the order: no row is sealed before one with a lower ID.
    const firstWaiting = rows.findIndex(({ row_id: id }) => codeMails.get(id)?.is_on_its_way);
    const added = rows.slice(0, firstWaiting < 0 ? rows.length : firstWaiting).flatMap((row) => {
      const { row_id: rowId, kind, facts, isComplete } = row;
      // Stays unsealed, because the lead or its form was deleted.
      if (facts === null || !isComplete) return [];
      const { mail_id: id, finished_at: at, reply = null } = codeMails.get(rowId) ?? {};
      const delivery = { message_id: id ? messageIdOf(id) : null, mailed_at: at ? isoTime(at) : null, reply };
      const content = kind === 'consent' ? { ...facts, page: publicUrl, ...delivery } : facts;
      return [{ kind, rowId, content } as NewEntry];
    });
    await appendEntries(tx, added, { secrets, now });
    return { sealed: added.length, waitingId: rows[firstWaiting]?.row_id ?? null };
  });
}

async function hasRecentUnknownSignature(tx: Db, secrets: Secrets, now: number): Promise<boolean> {
  const signed = await signedHead(tx, secrets);
  return signed !== null && !signed.isGenuine && Math.abs(now - signed.signedAt) < SECRET_CHANGE_MS;
}

type CodeMail = Pick<Selectable<Schema['outbox']>, 'finished_at' | 'reply'> & {
  readonly mail_id: string;
  /** The mail server's reply isn't stored yet. */
  readonly is_on_its_way: boolean | number;
};

/**
 * Finds the mail of each receipt's code, which has the same time as the receipt. It may have been mailed for another browser
 * (completeByCode in verify-code.ts), but one mailed for the receipt's browser takes precedence. Its time and reply are null if
 * the connection was lost before the mail server accepted it, because it is dropped once its code has been used.
 */
async function codeMailsOf(
  tx: Db,
  ids: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, CodeMail>> {
  const [from, to] = [now - MAIL_RESULT_MS, now + MAIL_RESULT_MS];
  const { rows } = await sql<CodeMail & { readonly id: string }>`
    select receipt.id, mail.id as mail_id,
      case when mail.state = 'sent' then mail.finished_at end as finished_at,
      case when mail.state = 'sent' then mail.reply end as reply,
      mail.state = 'queued' and receipt.verified_at between ${from} and ${to} as is_on_its_way
    from consent_receipts receipt
    join leads lead on lead.id = receipt.lead_id
    join outbox mail on mail.code_id = (
      select code.id from codes code where code.email = lead.email and code.used_at = receipt.verified_at
      order by code.submission_id <> receipt.submission_id, code.id limit 1
    )
    where receipt.id in (${sql.join(ids)})
  `.execute(tx);
  return new Map(rows.map((row) => [row.id, row]));
}
