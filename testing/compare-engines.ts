// Finds the product's SQL that the tests sent only to SQLite, because most tests do not run on PostgreSQL.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const STATEMENTS_FOLDER_VARIABLE = 'TEST_STATEMENTS_FOLDER';

export type RecordedStatements = {
  readonly files: string;
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
};

export const comparable = (sql: string): string =>
  sql
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/\$\d+/g, '?')
    .replaceAll(/\(\?(?:, \?)+\)/g, '(?)')
    .replaceAll(/(\(\?\))(?:, \(\?\))+/g, '$1')
    .replaceAll(/limit \+\?/g, 'limit ?')
    .replaceAll(/ for update(?: of "\w+")?(?: skip locked)?/g, '')
    .replaceAll(/\d{10,}/g, '0')
    .replaceAll(/\(select (?:value from json_each\(\?\)|jsonb_array_elements_text\(\?::jsonb\))\)/g, '(?)')
    .replaceAll(
      /case instr\(((?:"\w+"\.)?"email"), '@'\) when 0 then '' else substr\(\1, instr\(\1, '@'\) \+ 1\) end/g,
      `split_part($1, '@', 2)`,
    );

/** Statements for SQLite's own tables, and for checks of a file before it is opened (server/db/backup/). */
const SQLITE_ITSELF =
  /\bsqlite_(?:master|schema)\b|\bpragma_|\bbackup_files\b|from "?kysely_migration\b|^select count\(\*\) as count from (?:imported_)?leads$/;

export const readRecorded = (folder: string): readonly RecordedStatements[] =>
  readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as RecordedStatements,
  );

export function sentOnlyToSqlite(recorded: readonly RecordedStatements[]): ReadonlyMap<string, string> {
  const onPostgres = new Set(recorded.flatMap(({ postgres }) => postgres));
  return new Map(
    recorded.flatMap(({ files, sqlite }) =>
      sqlite
        .filter((sql) => !onPostgres.has(sql) && !SQLITE_ITSELF.test(sql))
        .map((sql) => [sql, files] as const),
    ),
  );
}
