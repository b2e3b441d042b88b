// Reads the bytes of a database's files, as a person who holds the disk can.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { sql } from 'kysely';

import type { Config } from '#server/settings/settings.ts';
import type { Db } from '#server/db/engine/connect.ts';

/**
 * Counts how often words stand in the files of a database.
 * @param more other files to look into
 * @returns the count of each word; the test's user must be allowed to read the files of PostgreSQL
 */
export async function countInFiles(
  db: Db,
  config: Config['database'],
  words: readonly string[],
  more: readonly string[] = [],
): Promise<Readonly<Record<string, number>>> {
  const ours = config.engine === 'sqlite' ? sqliteFiles(config.file) : await postgresFiles(db);
  const contents = [...ours, ...more].map((file) => readFileSync(file, 'latin1'));
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

/** All that PostgreSQL keeps of one database, as it is on the disk after a checkpoint; not its write-ahead log. */
async function postgresFiles(db: Db): Promise<readonly string[]> {
  await sql`checkpoint`.execute(db);
  const { rows } = await sql<{ data: string; oid: number }>`
    select current_setting('data_directory') as data, oid::int as oid from pg_database where datname = current_database()
  `.execute(db);
  const [place] = rows;
  const folder = path.join(place?.data ?? '', 'base', String(place?.oid));
  return readdirSync(folder).map((name) => path.join(folder, name));
}
