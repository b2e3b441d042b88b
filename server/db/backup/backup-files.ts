// A backup is a SQLite database with one more table, which contains the instance's files.
import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

export type BackupFile = { readonly name: string; readonly content: Uint8Array };

export const BACKUP_FILES = 'backup_files';
/** As SQLite stores it. */
export const CREATE_BACKUP_FILES = `CREATE TABLE ${BACKUP_FILES} (name text primary key, sha256 text not null, content blob not null) strict, without rowid`;

const digestOf = ({ name, content }: BackupFile): string =>
  hash('sha256', Buffer.concat([Buffer.from(`${name}\0`), content]));

export function addBackupFiles(backup: string, files: readonly BackupFile[]): void {
  // A backup copied into place by hand already has files.
  dropBackupFiles(backup);
  using database = new DatabaseSync(backup);
  database.exec(`pragma journal_mode = delete; begin; ${CREATE_BACKUP_FILES}`);
  const insert = database.prepare(`insert into ${BACKUP_FILES} values (?, ?, ?)`);
  for (const file of files) insert.run(file.name, digestOf(file), file.content);
  database.exec('commit');
}

/** Returns null if a file has changed since the backup, because SQLite has no checksums. */
export function readBackupFiles(database: DatabaseSync): readonly BackupFile[] | null {
  const rows = database.prepare(`select name, sha256, content from ${BACKUP_FILES}`).all();
  const files: BackupFile[] = [];
  for (const { name, sha256, content } of rows) {
    if (typeof name !== 'string' || !(content instanceof Uint8Array)) return null;
    if (digestOf({ name, content }) !== sha256) return null;
    files.push({ name, content });
  }
  return files;
}

/** Overwrites the files, so that no secret remains in the live database. */
export function dropBackupFiles(backup: string): void {
  using database = new DatabaseSync(backup);
  database.exec(`pragma secure_delete = on; drop table if exists ${BACKUP_FILES}`);
}
