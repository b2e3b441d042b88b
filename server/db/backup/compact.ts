// Rewrites the database, because deleted rows survive in free pages, moved copies, the log and PostgreSQL's planner samples.
import { realpathSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';

import { sql } from 'kysely';

import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { isWriteFailure } from '#server/db/backup/backup.ts';
import { truncateWal, openDatabase, type Db } from '#server/db/engine/connect.ts';
import { TABLE_NAMES } from '#server/db/all-tables.ts';
import { isBusy } from '#server/db/engine/outages.ts';

export type RewriteResult =
  | { readonly type: 'rewritten' }
  /** SQLite's log was emptied, or PostgreSQL's tables vacuumed; older traces remain. */
  | { readonly type: 'too large' }
  /** An earlier transaction may still read deleted rows, or SQLite's file was always in use. */
  | { readonly type: 'in use' }
  /** Tables that this user may not rewrite, or that were always in use. */
  | { readonly type: 'remaining'; readonly tables: readonly string[] }
  | { readonly type: 'no room'; readonly neededBytes: number };

const RETRY_INTERVAL_MS = 100;
const ATTEMPTS = 50;
const HEADROOM = 1.1;
/** Up to this size, SQLite's temporary copy is kept in memory. */
const IN_MEMORY_BYTES = 100_000_000;

/**
 * Rewrites the database. On SQLite, writers wait 1 to 3 s per 100 MB; on PostgreSQL, each table is locked while it is
 * rewritten.
 * @param options largestBytes: larger databases are skipped, so no visitor waits long
 * @throws the database's error
 */
export async function rewriteDatabase(
  config: DatabaseAddress,
  { largestBytes = Infinity }: { readonly largestBytes?: number } = {},
): Promise<RewriteResult> {
  if (config.engine === 'sqlite')
    return config.file === ':memory:' ? { type: 'rewritten' } : rewriteFile(config.file, largestBytes);
  const { db, close } = openDatabase(config, () => {}, { statementTimeoutMs: 0 });
  try {
    return await rewriteTables(db, largestBytes);
  } finally {
    await close();
  }
}

async function rewriteFile(file: string, largestBytes: number): Promise<RewriteResult> {
  const { size } = statSync(file);
  const isTooLarge = size > largestBytes;
  const neededBytes = Math.ceil(size * HEADROOM * (size > IN_MEMORY_BYTES ? 2 : 1));
  // The file may be a symbolic link to another disk.
  const folder = path.dirname(realpathSync(file));
  const { bavail, bsize } = statfsSync(folder);
  const hasRoom = bavail * bsize >= neededBytes;
  // This process itself may hold the lock, and a synchronous wait would prevent releasing it.
  using sqlite = new DatabaseSync(file, { timeout: 0 });
  let isLogEmpty = false;
  try {
    if (!isTooLarge && hasRoom) {
      if (size <= IN_MEMORY_BYTES) sqlite.exec('pragma temp_store = memory');
      else sqlite.exec(`pragma temp_store_directory = '${folder.replaceAll("'", "''")}'`);
      if (!(await retryUntil(() => unlessBusy(() => sqlite.exec('vacuum'))))) return { type: 'in use' };
    }
  } catch (error) {
    if (isWriteFailure(error)) return { type: 'no room', neededBytes };
    throw error;
  } finally {
    isLogEmpty = await retryUntil(() => truncateWal(sqlite));
  }
  if (!isTooLarge && !hasRoom) return { type: 'no room', neededBytes };
  if (!isLogEmpty) return { type: 'in use' };
  return { type: isTooLarge ? 'too large' : 'rewritten' };
}

/** @returns false if another process has locked the file */
function unlessBusy(run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

async function retryUntil(isDone: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let attempts = 0; attempts < ATTEMPTS; attempts += 1) {
    if (await isDone()) return true;
    await setTimeout(RETRY_INTERVAL_MS);
  }
  return false;
}

export const PLANNER_SAMPLES = 'pg_statistic';

async function rewriteTables(db: Db, largestBytes: number): Promise<RewriteResult> {
  const { rows } = await sql<{ bytes: string }>`
    select sum(pg_total_relation_size(name::regclass)) as bytes from unnest(${TABLE_NAMES}::text[]) as name
  `.execute(db);
  if (Number(rows[0]?.bytes) > largestBytes) {
    for (const table of TABLE_NAMES) await sql`vacuum (analyze, skip_locked) ${sql.table(table)}`.execute(db);
    return { type: 'too large' };
  }
  if (!(await earlierTransactionsEnded(db))) return { type: 'in use' };
  const remaining: string[] = [];
  for (const table of TABLE_NAMES) {
    if (!(await retryUntil(() => rewriteTable(db, table)))) remaining.push(table);
    await sql`analyze ${sql.table(table)}`.execute(db);
  }
  if (!(await earlierTransactionsEnded(db))) return { type: 'in use' };
  if (!(await rewriteTable(db, PLANNER_SAMPLES))) remaining.push(PLANNER_SAMPLES);
  return remaining.length === 0 ? { type: 'rewritten' } : { type: 'remaining', tables: remaining };
}

/**
 * Waits for all transactions running now, because rewriting keeps rows that an earlier transaction can still read. All
 * transactions in this database count; in the server's other databases, only those that write.
 */
async function earlierTransactionsEnded(db: Db): Promise<boolean> {
  const { rows } = await sql<{ now: string; next: string }>`
    select clock_timestamp()::text as now, pg_snapshot_xmax(pg_current_snapshot())::text as next
  `.execute(db);
  const { now, next } = rows[0]!;
  return retryUntil(async () => {
    const earlier = await sql`
      select 1 where pg_snapshot_xmin(pg_current_snapshot()) < ${next}::xid8
      union all
      select 1 from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and xact_start < ${now}::timestamptz
    `.execute(db);
    return earlier.rows.length === 0;
  });
}

/**
 * Skips a locked table, because waiting for it would make other statements queue up.
 * @returns false if it was skipped
 */
async function rewriteTable(db: Db, table: string): Promise<boolean> {
  const fileNode = async () => {
    const { rows } = await sql`select pg_relation_filenode(${table}::regclass) as file`.execute(db);
    return JSON.stringify(rows);
  };
  const before = await fileNode();
  await sql`vacuum (full, skip_locked) ${sql.table(table)}`.execute(db);
  return (await fileNode()) !== before;
}
