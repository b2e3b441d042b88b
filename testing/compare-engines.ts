// Which statements of the product were sent to SQLite and never to PostgreSQL. Most tests run on SQLite alone; this shows what they leave out.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Set by testing/run-logic.ts: the folder that each process leaves its statements in. */
export const STATEMENTS_FOLDER_VARIABLE = 'TEST_STATEMENTS_FOLDER';

/** What the tests of one process sent to each engine. */
export type RecordedStatements = {
  readonly files: string;
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
};

/** A statement as it reads on either engine: placeholders, lists and the engines' own words made the same. */
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
      /case instr\("email", '@'\) when 0 then '' else substr\("email", instr\("email", '@'\) \+ 1\) end/g,
      `split_part("email", '@', 2)`,
    );

/** What looks into a file of SQLite before it is opened as the database (server/db/whole/restore.ts), and its own tables. */
const SQLITE_ITSELF =
  /\bsqlite_(?:master|schema)\b|\bpragma_|from "?kysely_migration\b|^select count\(\*\) as count from (?:imported_)?leads$/;

/** What the test files in the folder recorded. */
export const readRecorded = (folder: string): readonly RecordedStatements[] =>
  readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as RecordedStatements,
  );

/** The statements that SQLite alone got, each with the test files of the process that sent it. */
export function sentToSqliteAlone(recorded: readonly RecordedStatements[]): ReadonlyMap<string, string> {
  const onPostgres = new Set(recorded.flatMap(({ postgres }) => postgres));
  return new Map(
    recorded.flatMap(({ files, sqlite }) =>
      sqlite
        .filter((sql) => !onPostgres.has(sql) && !SQLITE_ITSELF.test(sql))
        .map((sql) => [sql, files] as const),
    ),
  );
}
