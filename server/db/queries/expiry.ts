// Deletes expired rows, a few per transaction. Verified submissions are kept with their leads and receipts.
import { sql, type RawBuilder } from 'kysely';

import {
  descriptionOf,
  keyOf,
  TABLE_NAMES,
  TABLES,
  type Cutoffs,
  type Schema,
  type TablesWith,
} from '#server/db/all-tables.ts';
import { isOnPostgres, type Db } from '#server/db/engine/connect.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import { changedRows } from '#server/db/engine/row-counts.ts';
import { DAY_MS } from '#server/platform/time.ts';

export type ExpiringTable = TablesWith<{ expiry: unknown }>;
type ByColumn = TablesWith<{ expiry: { column: string } }>;

export type Expired = Partial<Record<ExpiringTable, number>>;

type Outcome = { readonly deleted: Expired; readonly done: boolean };

/** Deletes at most `limit` rows of one kind, with their dependent rows. `done` means that no expired rows are left. */
export type ExpiryStep = (tx: Db, limit: number) => Promise<Outcome>;

export function expirySteps(cutoffs: Cutoffs): readonly ExpiryStep[] {
  const { unverified } = cutoffs;
  const byColumn = TABLE_NAMES.flatMap((table) => {
    const { expiry } = descriptionOf(table);
    if (expiry === undefined || expiry === 'custom') return [];
    const before = cutoffs[expiry.cutoff];
    return before === null ? [] : [columnStep(table as ByColumn, before)];
  });
  if (unverified === null) return byColumn;
  // Suppressions come last, because the rows deleted before them keep an e-mail address in use.
  return [...byColumn, codesStep(unverified), unverifiedStep(unverified), suppressionsStep(unverified)];
}

/** @returns null while another process is deleting */
export async function runStep(db: Db, step: ExpiryStep, limit: number): Promise<Outcome | null> {
  return db.transaction().execute(async (tx) => {
    if (isOnPostgres(tx)) {
      const { rows } = await sql<{ ours: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended('housekeeping', 0)) as ours
      `.execute(tx);
      if (rows[0]?.ours !== true) return null;
    }
    return step(tx, limit);
  });
}

const columnStep = (table: ByColumn, before: number): ExpiryStep =>
  countedStep(table, (tx, limit) => deleteExpired(tx, table, { before, limit }));

const countedStep =
  (table: ExpiringTable, deleteSome: (tx: Db, limit: number) => Promise<number>): ExpiryStep =>
  async (tx, limit) => {
    const deleted = await deleteSome(tx, limit);
    return { deleted: { [table]: deleted }, done: deleted < limit };
  };

/** Deletes at most `most` rows, oldest first. */
export function deleteExpired(
  tx: Db,
  table: ByColumn,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<number> {
  const { column } = TABLES[table].expiry;
  const isExpired = isBefore(column, before);
  return deleteByKey(
    tx,
    table,
    sql`
    select ${keyColumnsOf(table)} from ${sql.table(table)}
    where ${isExpired} order by ${sql.ref(column)} limit ${limit}`,
    isExpired,
  );
}

/** IDs begin with a time, so the oldest rows come first in the primary key. */
const isBefore = (column: string, ms: number) => {
  if (column === 'id') return sql<boolean>`id < ${lowestIdAt(ms)}`;
  return sql<boolean>`${sql.ref(column)} < ${column === 'day' ? Math.floor(ms / DAY_MS) : ms}`;
};

/** @param condition checked again, because on PostgreSQL a row may change while the statement waits for it */
async function deleteByKey(
  tx: Db,
  table: keyof Schema,
  keys: RawBuilder<unknown>,
  condition = sql<boolean>`true`,
): Promise<number> {
  return changedRows(
    tx
      .deleteFrom(table)
      .where(condition)
      .where(sql<boolean>`(${keyColumnsOf(table)}) in (${keys})`),
  );
}

const keyColumnsOf = (table: keyof Schema) => sql.join(keyOf(table).map((name) => sql.ref(name)));

const codesStep = (until: number): ExpiryStep =>
  countedStep('codes', async (tx, limit) => {
    const oldest = sql`select id from codes where ${isBefore('id', until)} order by id limit ${limit}`;
    await tx
      .deleteFrom('outbox')
      .where(sql<boolean>`code_id in (${oldest})`)
      .execute();
    return deleteByKey(tx, 'codes', oldest);
  });

const unverifiedStep = (until: number): ExpiryStep =>
  countedStep('submissions', (tx, limit) =>
    deleteByKey(
      tx,
      'submissions',
      sql`
        select s.id from submissions s where s.verified_at is null and s.expires_at < ${until}
        and not exists (select 1 from codes where submission_id = s.id)
        order by s.expires_at, s.id limit ${limit}`,
    ),
  );

/**
 * Anyone can type a dead e-mail address. Once no other data about it is stored, its pseudonym is enough to suppress mail. The
 * operator's notes are kept, and so are unsubscribed e-mail addresses, which belong to leads.
 */
function suppressionsStep(until: number): ExpiryStep {
  let after = '';
  return async (tx, limit) => {
    const page = await tx
      .selectFrom('suppressions')
      .select('address_key')
      .where('address_key', '>', after)
      .orderBy('address_key')
      .limit(limit)
      .execute();
    const last = page.at(-1)?.address_key;
    if (last === undefined) return { deleted: {}, done: true };
    const { numUpdatedRows } = await tx
      .updateTable('suppressions as s')
      .set({ email: null, note: null })
      .where('address_key', '>', after)
      .where('address_key', '<=', last)
      .where('reason', 'in', ['bounced', 'complained'])
      .where('created_at', '<', until)
      .where('email', 'is not', null)
      .where(
        sql<boolean>`not exists (select 1 from leads where email = s.email)
          and not exists (select 1 from imported_leads where email = s.email)
          and not exists (select 1 from submissions where email = s.email)`,
      )
      .executeTakeFirstOrThrow();
    after = last;
    return { deleted: { suppressions: Number(numUpdatedRows) }, done: page.length < limit };
  };
}
