// Rewrites a whole database, so that its files hold live rows alone. A deleted row stays in them otherwise: in free pages, in copies
// that a page left behind, in the log, and in samples that PostgreSQL's planner keeps.
import { statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';

import { sql } from 'kysely';

import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { isWriteFailure } from '#server/db/backup/backup.ts';
import { emptyLogOf, openDatabase, type Db } from '#server/db/engine/connect.ts';
import { TABLE_NAMES } from '#server/db/all-tables.ts';
import { isBusy } from '#server/db/engine/outages.ts';

export type Rewriting =
  | { readonly type: 'rewritten' }
  /** SQLite's log was emptied, PostgreSQL's tables were vacuumed; what else is left stays. */
  | { readonly type: 'too large' }
  /** Something that began earlier still reads what was deleted, or the tables are never free. */
  | { readonly type: 'in use' }
  /** Tables that PostgreSQL does not let this user rewrite, or that were never free. */
  | { readonly type: 'left'; readonly tables: readonly string[] }
  /** Nothing was changed. */
  | { readonly type: 'no room'; readonly neededBytes: number };

/** Between two tries at what is in use; with their number, some seconds. */
const TRY_EVERY_MS = 100;
const TRIES = 50;
/** How much SQLite may write beyond the size of the file: the frames of its log, and what visitors send meanwhile. */
const HEADROOM = 1.1;
/** Up to here the copy that SQLite makes is kept in memory. */
const IN_MEMORY_BYTES = 100_000_000;

/**
 * Rewrites a database beside the processes that use it. On SQLite writers wait, one to three seconds for each 100 MB; on PostgreSQL each
 * table is locked while it is rewritten.
 * @param options largestBytes: a larger database is not rewritten, so that no visitor waits for long
 * @throws the database's error
 */
export async function rewriteDatabase(
  config: DatabaseAddress,
  { largestBytes = Infinity }: { readonly largestBytes?: number } = {},
): Promise<Rewriting> {
  if (config.engine === 'sqlite')
    return config.file === ':memory:' ? { type: 'rewritten' } : rewriteFile(config.file, largestBytes);
  const { db, close } = openDatabase(config, () => {}, { statementTimeoutMs: 0 });
  try {
    return await rewriteTables(db, largestBytes);
  } finally {
    await close();
  }
}

async function rewriteFile(file: string, largestBytes: number): Promise<Rewriting> {
  const { size } = statSync(file);
  const isTooLarge = size > largestBytes;
  const neededBytes = Math.ceil(size * HEADROOM * (size > IN_MEMORY_BYTES ? 2 : 1));
  const { bavail, bsize } = statfsSync(path.dirname(file));
  // A disk that is full keeps visitors from sending their forms.
  const hasRoom = bavail * bsize >= neededBytes;
  // Not waited for inside SQLite: this process may be the one that has the file in use.
  using sqlite = new DatabaseSync(file, { timeout: 0 });
  let isLogEmpty = false;
  try {
    if (!isTooLarge && hasRoom) {
      if (size <= IN_MEMORY_BYTES) sqlite.exec('pragma temp_store = memory');
      // The folder for temporary files may be small, or in memory.
      else
        sqlite.exec(
          `pragma temp_store_directory = '${path.dirname(path.resolve(file)).replaceAll("'", "''")}'`,
        );
      if (!(await until(() => isDone(() => sqlite.exec('vacuum'))))) return { type: 'in use' };
    }
  } catch (error) {
    if (isWriteFailure(error)) return { type: 'no room', neededBytes };
    throw error;
  } finally {
    // Also after a rewriting that failed.
    isLogEmpty = await until(() => emptyLogOf(sqlite));
  }
  if (!isTooLarge && !hasRoom) return { type: 'no room', neededBytes };
  if (!isLogEmpty) return { type: 'in use' };
  return { type: isTooLarge ? 'too large' : 'rewritten' };
}

/** @returns false when another process was in the way */
function isDone(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** Tries for some seconds. @returns whether it was done */
async function until(isThere: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (await isThere()) return true;
    await setTimeout(TRY_EVERY_MS);
  }
  return false;
}

/** Samples of all columns, most of them from before. Only the database's owner may rewrite it. */
export const PLANNER_SAMPLES = 'pg_statistic';

async function rewriteTables(db: Db, largestBytes: number): Promise<Rewriting> {
  const tables = TABLE_NAMES;
  const { rows } = await sql<{ bytes: string; now: string }>`
    select sum(pg_total_relation_size(name::regclass)) as bytes, clock_timestamp()::text as now
    from unnest(${tables}::text[]) as name
  `.execute(db);
  const [{ bytes, now } = { bytes: 0, now: '' }] = rows;
  if (Number(bytes) > largestBytes) {
    for (const table of tables) await sql`vacuum (analyze, skip_locked) ${sql.table(table)}`.execute(db);
    return { type: 'too large' };
  }
  // A row that an earlier transaction may still read is kept by any rewriting.
  const isAlone = async () => {
    const earlier = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and xact_start < ${now}::timestamptz
    `.execute(db);
    return earlier.rows.length === 0;
  };
  if (!(await until(isAlone))) return { type: 'in use' };
  const left: string[] = [];
  for (const table of tables) {
    if (!(await until(() => rewriteTable(db, table)))) left.push(table);
    await sql`analyze ${sql.table(table)}`.execute(db);
  }
  if (!(await rewriteTable(db, PLANNER_SAMPLES))) left.push(PLANNER_SAMPLES);
  return left.length === 0 ? { type: 'rewritten' } : { type: 'left', tables: left };
}

/** Never waits for the table, because others would queue up behind the wait. @returns whether it was rewritten */
async function rewriteTable(db: Db, table: string): Promise<boolean> {
  const file = async () => {
    const { rows } = await sql`select pg_relation_filenode(${table}::regclass) as file`.execute(db);
    return JSON.stringify(rows);
  };
  const before = await file();
  await sql`vacuum (full, skip_locked) ${sql.table(table)}`.execute(db);
  return (await file()) !== before;
}
