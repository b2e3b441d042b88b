// A copy of SQLite's database while others write to it.
import { DatabaseSync, backup } from 'node:sqlite';

/** All pages in one step: SQLite begins anew whenever another process writes between two. */
const WHOLE = 2 ** 31 - 1;

/**
 * Copies a database as it is at one moment. Writers do not wait for it (SQLite's online backup, with the
 * write-ahead log that every database of ours has).
 * @param copy a file that is not there yet, or is empty. It is not checked here
 */
export async function copyDatabase(file: string, copy: string): Promise<void> {
  using source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  await backup(source, copy, { rate: WHOLE });
  using copied = new DatabaseSync(copy);
  // A copy is one file: what was in the write-ahead log is in it.
  copied.exec('pragma journal_mode = delete');
}

/** SQLite's SQLITE_FULL, and what it calls a write that failed: SQLITE_IOERR with WRITE, FSYNC or TRUNCATE. */
const WRITE_FAILURES: ReadonlySet<unknown> = new Set([13, 778, 1034, 1546]);

/** Whether SQLite could not write a file; the disk is full, as a rule. A copy is the only one that {@link copyDatabase} writes. */
export const isWriteFailure = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && WRITE_FAILURES.has(error.errcode);
