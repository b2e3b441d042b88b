// A copy of SQLite's database while others write to it.
import { DatabaseSync, backup } from 'node:sqlite';

/** All pages in one step: SQLite begins anew whenever another process writes between two. */
const WHOLE = 2 ** 31 - 1;

/**
 * Copies a database as it is at one moment; who writes to it meanwhile is not kept waiting (SQLite's online backup, with the
 * write-ahead log that every database of ours has).
 * @param copy a file that is not there yet, or is empty
 * @returns how many leads are in the copy
 * @throws Error when the copy is damaged
 */
export async function copyDatabase(file: string, copy: string): Promise<{ readonly leads: number }> {
  using source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  await backup(source, copy, { rate: WHOLE });
  using copied = new DatabaseSync(copy);
  // A copy is one file: what was in the write-ahead log is in it.
  copied.exec('pragma journal_mode = delete');
  const [check] = copied.prepare('pragma integrity_check').all();
  if (check?.['integrity_check'] !== 'ok') throw new Error('The copy of the database is damaged.');
  const row = copied.prepare('select count(*) as leads from leads').get();
  return { leads: Number(row?.['leads']) };
}
