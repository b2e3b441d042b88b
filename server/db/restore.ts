// Whether a file is a database of ours that can take the place of another, and whether that place is free.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { contentsOf, type Contents } from '#server/db/backup.ts';

/** SQLite's result codes: SQLITE_NOTADB, SQLITE_BUSY and SQLITE_LOCKED. */
const NO_DATABASE = 26;
const IN_USE: ReadonlySet<unknown> = new Set([5, 6]);

/** What SQLite may keep beside a database. It belongs to that file alone: with another it would be played into that one. */
export const COMPANIONS = ['-wal', '-shm', '-journal'];

const errcodeOf = (error: unknown): unknown =>
  error instanceof Error && 'errcode' in error ? error.errcode : undefined;

/**
 * Looks at a backup, and changes nothing.
 * @returns what is in it; or why it is not fit: no database, not one of this page, or damaged
 */
export function inspectBackup(
  file: string,
): ({ readonly type: 'fit' } & Contents) | { readonly type: 'no database' | 'foreign' | 'damaged' } {
  // A database with a write-ahead log cannot be opened for reading alone where it may not write.
  using database = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all();
    const names = new Set(tables.map(({ name }) => name));
    if (!['leads', 'consent_receipts', 'known_secrets'].every((name) => names.has(name)))
      return { type: 'foreign' };
    const [check] = database.prepare('pragma integrity_check').all();
    if (check?.['integrity_check'] !== 'ok') return { type: 'damaged' };
    return { type: 'fit', ...contentsOf(database) };
  } catch (error) {
    if (errcodeOf(error) === NO_DATABASE) return { type: 'no database' };
    throw error;
  }
}

/**
 * Whether any process has a database open. One that is there and free is left without a write-ahead log; of one that is damaged
 * nothing is known, and it is in nobody's way.
 */
export function isDatabaseOpen(file: string): boolean {
  if (!existsSync(file)) return false;
  using database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Only the last one who has it open may leave this mode (SQLite, Write-Ahead Logging).
    database.exec('pragma locking_mode = exclusive');
    const row = database.prepare('pragma journal_mode = delete').get();
    return row?.['journal_mode'] !== 'delete';
  } catch (error) {
    return IN_USE.has(errcodeOf(error));
  }
}
