import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';

import {
  BACKUP_FILES,
  type BackupFile,
  CREATE_BACKUP_FILES,
  readBackupFiles,
} from '#server/db/backup/backup-files.ts';
import { openDatabase } from '#server/db/engine/connect.ts';
import { sqliteCode } from '#server/db/engine/outages.ts';
import { migrateTo, MIGRATIONS } from '#server/db/migrations/migrate.ts';
import { flushToDisk, makePrivate } from '#server/platform/files.ts';

/** Copies all pages in one step, because SQLite restarts a copy when another process writes between two steps. */
const ALL_PAGES = 2 ** 31 - 1;

/** Makes a consistent copy without blocking writers (SQLite's online backup). Does not check the copy. */
export async function copyDatabase(file: string, copy: string): Promise<void> {
  using source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  await backup(source, copy, { rate: ALL_PAGES });
  using copied = new DatabaseSync(copy);
  copied.exec('pragma journal_mode = delete');
}

/** SQLITE_FULL, and SQLITE_IOERR with WRITE, FSYNC or TRUNCATE. */
const WRITE_FAILURES: ReadonlySet<unknown> = new Set([13, 778, 1034, 1546]);

export const isWriteFailure = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && WRITE_FAILURES.has(error.errcode);

/** SQLITE_BUSY and SQLITE_LOCKED. */
const IN_USE: ReadonlySet<number | null> = new Set([5, 6]);
/** SQLITE_CORRUPT. */
const CORRUPT = 11;
/** SQLITE_NOTADB. */
const NOT_A_DATABASE = 26;

/** They move with their database, because SQLite would replay them into another one in its place. */
const COMPANIONS = ['-wal', '-shm', '-journal'];

/** Returns the database and its companions, which may not exist. */
export const databaseFiles = (file: string): readonly string[] =>
  ['', ...COMPANIONS].map((companion) => file + companion);

export type Inspection =
  | ({ readonly type: 'fit'; readonly files: readonly BackupFile[] } & Contents)
  | { readonly type: 'no database' | 'newer' | 'damaged' }
  | { readonly type: 'unfit'; readonly reason: string };

const unfit = (reason: string) => ({ type: 'unfit', reason }) as const;

/** No process may have the file open. */
export async function inspectDatabase(file: string): Promise<Inspection> {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  try {
    using database = new DatabaseSync(url, { readOnly: true });
    const objects = schemaOf(database.prepare(SCHEMA).all());
    const filesTable = `table ${BACKUP_FILES}`;
    const hasFiles = objects.get(filesTable) === CREATE_BACKUP_FILES;
    if (hasFiles) objects.delete(filesTable);
    const ran = migrationsIn(database, objects);
    if (ran.type !== 'ran') return ran;
    // quick_check doesn't find rows that an index lacks.
    const [sound] = database.prepare('pragma integrity_check(1)').all();
    if (sound?.['integrity_check'] !== 'ok') return { type: 'damaged' };
    const difference = firstDifference(objects, await schemaAfter(ran.newest));
    if (difference !== null) return unfit(difference);
    const dangling = database.prepare('select "table" as name from pragma_foreign_key_check limit 1').get();
    if (dangling !== undefined)
      return unfit(`rows in its table ${String(dangling['name'])} refer to missing rows`);
    const files = hasFiles ? readBackupFiles(database) : [];
    return files === null ? { type: 'damaged' } : { type: 'fit', ...contentsOf(database), files };
  } catch (error) {
    const code = sqliteCode(error);
    if (code === null) throw error;
    return { type: code === NOT_A_DATABASE ? 'no database' : 'damaged' };
  }
}

export type Contents = { readonly leads: number; readonly imported: number };

function contentsOf(database: DatabaseSync): Contents {
  const count = (table: string) =>
    Number(database.prepare(`select count(*) as count from ${table}`).get()?.['count']);
  return { leads: count('leads'), imported: count('imported_leads') };
}

/** Returns the migrations of a database. They must be the first ones in our list, or the whole list and newer ones. */
function migrationsIn(
  database: DatabaseSync,
  objects: Schema,
): { readonly type: 'ran'; readonly newest: string } | Exclude<Inspection, { type: 'fit' }> {
  if (!objects.has(`table ${DEFAULT_MIGRATION_TABLE}`)) return unfit('it has no list of migrations');
  const rows = database.prepare(`select name from ${DEFAULT_MIGRATION_TABLE} order by name`).all();
  const ran = rows.map(({ name }) => String(name));
  const newest = ran.at(-1);
  if (newest === undefined) return unfit('its list of migrations is empty');
  const ours = Object.keys(MIGRATIONS);
  const isOurs = ours.slice(0, ran.length).every((name, index) => name === ran[index]);
  if (!isOurs) return unfit('its list of migrations does not match any release');
  return ran.length > ours.length ? { type: 'newer' } : { type: 'ran', newest };
}

/** SQLite's statistics tables may or may not exist. */
const SCHEMA = `select type, name, sql from sqlite_schema where name not glob 'sqlite_stat[0-9]' order by type desc, name`;

type Schema = Map<string, string>;

const schemaOf = (rows: readonly Readonly<Record<string, unknown>>[]): Schema =>
  new Map(
    rows.map(({ type, name, sql: definition }) => [`${String(type)} ${String(name)}`, String(definition)]),
  );

async function schemaAfter(migration: string): Promise<Schema> {
  const { db, close } = openDatabase({ engine: 'sqlite', file: ':memory:' }, () => {});
  try {
    await migrateTo(db, migration);
    return schemaOf((await sql<Record<string, unknown>>`${sql.raw(SCHEMA)}`.execute(db)).rows);
  } finally {
    await close();
  }
}

function firstDifference(found: Schema, wanted: Schema): string | null {
  for (const [name, definition] of wanted) {
    if (!found.has(name)) return `the ${name} is missing`;
    if (found.get(name) !== definition) return `the ${name} differs from the expected one`;
  }
  const unexpected = [...found.keys()].find((name) => !wanted.has(name));
  return unexpected === undefined ? null : `the ${unexpected} does not belong in it`;
}

/**
 * Returns whether a process has the database open. To find out, it leaves WAL mode. A damaged file counts as closed.
 * @throws any other SQLite error
 */
export function isDatabaseOpen(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    using database = new DatabaseSync(file, { timeout: 0 });
    // Only the last process with an open database may leave WAL mode (SQLite, Write-Ahead Logging).
    database.exec('pragma locking_mode = exclusive');
    const row = database.prepare('pragma journal_mode = delete').get();
    return row?.['journal_mode'] !== 'delete';
  } catch (error) {
    const code = sqliteCode(error);
    if (code === CORRUPT || code === NOT_A_DATABASE) return false;
    if (IN_USE.has(code)) return true;
    throw error;
  }
}

export type Replacement = { readonly staged: string; readonly place: string; readonly kept: string };

/**
 * Moves each staged file or folder into its place and keeps the previous one. A file's place is never empty, even if the process
 * is killed. If a step fails, everything is moved back.
 * @param replacements staged in the folder of their place
 */
export async function moveIntoPlace(
  replacements: readonly Replacement[],
  lastStep: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const undo: (() => void)[] = [];
  const move = (from: string, to: string) => {
    renameSync(from, to);
    undo.push(() => renameSync(to, from));
  };
  try {
    for (const { staged, place, kept } of replacements) {
      const hasFile = isFile(place);
      if (hasFile) {
        linkSync(place, kept);
        undo.push(() => rmSync(kept, { force: true }));
      } else if (existsSync(place)) move(place, kept);
      for (const part of COMPANIONS) if (existsSync(place + part)) move(place + part, kept + part);
      renameSync(staged, place);
      undo.push(() => (hasFile ? renameSync(kept, place) : renameSync(place, staged)));
    }
    await lastStep();
  } catch (error) {
    for (const step of undo.toReversed()) step();
    throw error;
  }
  for (const { place, kept } of replacements) {
    if (isFile(kept)) for (const name of databaseFiles(kept)) makePrivate(name);
    flushToDisk(path.dirname(place));
  }
}

const isFile = (name: string): boolean => statSync(name, { throwIfNoEntry: false })?.isFile() === true;
