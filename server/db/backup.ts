// A copy of SQLite's database while others write to it.
import { DatabaseSync, backup } from 'node:sqlite';

/** All pages in one step: SQLite begins anew whenever another process writes between two. */
const WHOLE = 2 ** 31 - 1;

/**
 * Copies a database as it is at one moment; who writes to it meanwhile is not kept waiting (SQLite's online backup, with the
 * write-ahead log that every database of ours has).
 * @param copy a file that is not there yet, or is empty
 * @param onCopied told before the copy is checked, which takes as long again
 * @returns what is in the copy; null when it is damaged, as the database then is
 */
export async function copyDatabase(
  file: string,
  copy: string,
  onCopied: () => void = () => {},
): Promise<Contents | null> {
  using source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  await backup(source, copy, { rate: WHOLE });
  onCopied();
  using copied = new DatabaseSync(copy);
  // A copy is one file: what was in the write-ahead log is in it.
  copied.exec('pragma journal_mode = delete');
  return isWhole(copied) ? contentsOf(copied) : null;
}

/** Reads all of it: whether its parts fit together, and each row refers to one that is there. */
export function isWhole(database: DatabaseSync): boolean {
  const [check] = database.prepare('pragma integrity_check(1)').all();
  return (
    check?.['integrity_check'] === 'ok' &&
    database.prepare('select 1 from pragma_foreign_key_check limit 1').get() === undefined
  );
}

/** SQLite's SQLITE_FULL, and what it calls a write that failed: SQLITE_IOERR with WRITE, FSYNC or TRUNCATE. */
const WRITE_FAILURES: ReadonlySet<unknown> = new Set([13, 778, 1034, 1546]);

/** Whether SQLite could not write a file; the disk is full, as a rule. A copy is the only one that {@link copyDatabase} writes. */
export const isWriteFailure = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && WRITE_FAILURES.has(error.errcode);

/** How many of each. */
export type Contents = { readonly leads: number; readonly imported: number };

/** Counts what is in a database of this page; one of an earlier release knows no imported people. */
export function contentsOf(database: DatabaseSync): Contents {
  const count = (table: string) =>
    Number(database.prepare(`select count(*) as count from ${table}`).get()?.['count']);
  const knows = database.prepare(`select 1 from sqlite_master where name = 'imported_leads'`).get();
  return { leads: count('leads'), imported: knows === undefined ? 0 : count('imported_leads') };
}
