import { DatabaseSync, backup } from 'node:sqlite';

/** All pages in one step, because SQLite restarts when another process writes in between. */
const WHOLE = 2 ** 31 - 1;

/**
 * Consistent, without blocking writers (SQLite's online backup).
 * @param copy a missing or empty file; not checked
 */
export async function copyDatabase(file: string, copy: string): Promise<void> {
  using source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  await backup(source, copy, { rate: WHOLE });
  using copied = new DatabaseSync(copy);
  copied.exec('pragma journal_mode = delete');
}

/** SQLITE_FULL, and SQLITE_IOERR with WRITE, FSYNC or TRUNCATE. */
const WRITE_FAILURES: ReadonlySet<unknown> = new Set([13, 778, 1034, 1546]);

export const isWriteFailure = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && WRITE_FAILURES.has(error.errcode);
