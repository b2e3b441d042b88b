// Whether a file is a whole database of ours, and whether and how it can take the place of another.
import { existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';

import { openDatabase } from '#server/db/engine/connect.ts';
import { MIGRATIONS, migrateTo } from '#server/db/migrations/migrate.ts';
import { flushFolder } from '#server/platform/private-files.ts';

/** SQLite's primary result codes: SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CORRUPT and SQLITE_NOTADB. */
const IN_USE: ReadonlySet<number | null> = new Set([5, 6]);
const CORRUPT = 11;
const NO_DATABASE = 26;

/** What SQLite may keep beside a database. It belongs to that file alone: with another it would be played into that one. */
export const COMPANIONS = ['-wal', '-shm', '-journal'];

/** The primary result code of what SQLite threw; null for any other error. */
const resultCodeOf = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : null;

export type Inspection =
  | ({ readonly type: 'fit' } & Contents)
  | { readonly type: 'no database' | 'newer' | 'damaged' }
  /** What is not as this page makes it, as half a sentence. */
  | { readonly type: 'unfit'; readonly what: string };

const unfit = (what: string) => ({ type: 'unfit', what }) as const;

/**
 * Looks at all of a database that no process has open, and changes nothing, not even beside it.
 * @returns what is in it; or why no page of this release may work with it
 */
export async function inspectDatabase(file: string): Promise<Inspection> {
  const address = pathToFileURL(file);
  // Without locks and without a log, which would have to be made: no other process has it open.
  address.searchParams.set('immutable', '1');
  try {
    using database = new DatabaseSync(address, { readOnly: true });
    const objects = schemaOf(database.prepare(SCHEMA).all());
    const ran = migrationsIn(database, objects);
    if (ran.type !== 'ran') return ran;
    // Not quick_check, which does not see that a row is missing in an index.
    const [sound] = database.prepare('pragma integrity_check(1)').all();
    if (sound?.['integrity_check'] !== 'ok') return { type: 'damaged' };
    const what = firstDifference(objects, await schemaAfter(ran.newest));
    if (what !== null) return unfit(what);
    const loose = database.prepare('select "table" as name from pragma_foreign_key_check limit 1').get();
    if (loose === undefined) return { type: 'fit', ...contentsOf(database) };
    return unfit(`rows of its table ${String(loose['name'])} refer to rows that are not there`);
  } catch (error) {
    const code = resultCodeOf(error);
    if (code === null) throw error;
    return { type: code === NO_DATABASE ? 'no database' : 'damaged' };
  }
}

/** How many of each. */
export type Contents = { readonly leads: number; readonly imported: number };

function contentsOf(database: DatabaseSync): Contents {
  const count = (table: string) =>
    Number(database.prepare(`select count(*) as count from ${table}`).get()?.['count']);
  return { leads: count('leads'), imported: count('imported_leads') };
}

/** Which migration was the last one. What may have run is a beginning of our list, or all of it and more. */
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
  if (!isOurs) return unfit('its list of migrations is not that of any release');
  return ran.length > ours.length ? { type: 'newer' } : { type: 'ran', newest };
}

/** What statistics are kept in is SQLite's own, and may be there or not. */
const SCHEMA = `select type, name, sql from sqlite_schema where name not glob 'sqlite_stat[0-9]' order by type desc, name`;

/** By type and name: how it was made. */
type Schema = ReadonlyMap<string, string>;

const schemaOf = (rows: readonly Readonly<Record<string, unknown>>[]): Schema =>
  new Map(rows.map(({ type, name, sql: made }) => [`${String(type)} ${String(name)}`, plain(String(made))]));

/** Quotes around names, capitals and line breaks differ between programs that write the same. Texts in it stay. */
const plain = (made: string): string =>
  made
    .split(/('(?:[^']|'')*')/)
    .map((part) => (part.startsWith("'") ? part : part.replaceAll(/["`[\]]|\s+/g, ' ').toLowerCase()))
    .join('')
    .replaceAll(/ *([(),]) */g, '$1')
    .replaceAll(/ +/g, ' ')
    .trim();

/** The schema as our migrations make it. */
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
  for (const [name, made] of wanted) {
    if (!found.has(name)) return `the ${name} is missing`;
    if (found.get(name) !== made) return `the ${name} is not as this page makes it`;
  }
  const strange = [...found.keys()].find((name) => !wanted.has(name));
  return strange === undefined ? null : `the ${strange} does not belong there`;
}

/**
 * Whether any process has a database open. One that is there and free is left without a write-ahead log; a damaged one
 * is open nowhere.
 * @throws SQLite's error when this cannot be found out
 */
export function isDatabaseOpen(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    using database = new DatabaseSync(file, { timeout: 0 });
    // Only the last process that has it open may leave this mode (SQLite, Write-Ahead Logging).
    database.exec('pragma locking_mode = exclusive');
    const row = database.prepare('pragma journal_mode = delete').get();
    return row?.['journal_mode'] !== 'delete';
  } catch (error) {
    const code = resultCodeOf(error);
    if (code === CORRUPT || code === NO_DATABASE) return false;
    if (IN_USE.has(code)) return true;
    throw error;
  }
}

/**
 * Puts a database into the place of another, which is kept with what SQLite has beside it. When that cannot be done, the other one is
 * back in its place.
 * @param database one file in the folder of the other
 */
export function takePlace(database: string, live: string, kept: string): void {
  const moved: string[] = [];
  try {
    for (const part of ['', ...COMPANIONS])
      if (existsSync(live + part)) {
        renameSync(live + part, kept + part);
        moved.push(part);
      }
    renameSync(database, live);
  } catch (error) {
    for (const part of moved.toReversed()) renameSync(kept + part, live + part);
    throw error;
  }
  flushFolder(path.dirname(live));
}
