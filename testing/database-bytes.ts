import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

/** On PostgreSQL, the database user must be allowed to read the server's files. */
export async function countInFiles(
  { database: { db }, config: { database } }: ServerUnderTest,
  words: readonly string[],
  otherFiles: readonly string[] = [],
): Promise<Readonly<Record<string, number>>> {
  const databaseFiles = database.engine === 'sqlite' ? sqliteFiles(database.file) : await postgresFiles(db);
  const contents = [...databaseFiles, ...otherFiles].map((file) => readFileSync(file, 'latin1'));
  return Object.fromEntries(
    words.map((word) => {
      const bytes = Buffer.from(word).toString('latin1');
      return [word, contents.reduce((sum, content) => sum + content.split(bytes).length - 1, 0)];
    }),
  );
}

const sqliteFiles = (file: string): readonly string[] =>
  readdirSync(path.dirname(file), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith(path.basename(file)))
    .map((entry) => path.join(path.dirname(file), entry.name));

async function postgresFiles(db: Db): Promise<readonly string[]> {
  await sql`checkpoint`.execute(db);
  const { rows } = await sql<{ data: string; oid: number }>`
    select current_setting('data_directory') as data, oid::int as oid from pg_database where datname = current_database()
  `.execute(db);
  const [database] = rows;
  const folder = path.join(database?.data ?? '', 'base', String(database?.oid));
  return readdirSync(folder).map((name) => path.join(folder, name));
}
