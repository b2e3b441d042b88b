import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import path from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';

import { sql } from 'kysely';

import type { Config } from '#server/settings/settings.ts';
import { MIGRATIONS, migrate } from '#server/db/migrations/migrate.ts';
import { emptyDatabase, ENGINES, openTestDatabase } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { valuesOf } from '#testing/values-of.ts';

const execute = promisify(execFile);

async function migrateInOwnProcess(config: Config['database']): Promise<void> {
  const script = `
    const { openDatabase } = await import('#server/db/engine/connect.ts');
    const { migrate } = await import('#server/db/migrations/migrate.ts');
    const database = openDatabase(${JSON.stringify(config)}, () => {});
    await migrate(database);
    await database.close();
  `;
  await execute(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: path.resolve(import.meta.dirname),
  });
}

for (const engine of ENGINES) {
  it(`migrations run once when many processes start together on ${engine}`, () =>
    inFolder(async (folder) => {
      const config = await emptyDatabase(engine, folder);
      await Promise.all(Array.from({ length: 3 }, () => migrateInOwnProcess(config)));
      await using database = openTestDatabase(config);
      await migrate(database);
      const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(database.db);
      assert.deepEqual(valuesOf(applied.rows, 'name'), Object.keys(MIGRATIONS));
    }));
}

it('the tables of a migration change only together with its name', () =>
  inFolder(async (folder) => {
    await using database = openTestDatabase(await emptyDatabase('sqlite', folder));
    await migrate(database);
    const { rows } = await sql<{ sql: string }>`
      select sql from sqlite_schema where sql is not null and tbl_name not like 'kysely%'
    `.execute(database.db);
    const tables = hash('sha256', valuesOf(rows, 'sql').join(';')).slice(0, 12);
    // A database that has run a migration of this name would never get the difference.
    assert.deepEqual(
      { name: Object.keys(MIGRATIONS).at(-1), tables },
      { name: '2026-11-28-initial-schema', tables: 'b679de961eb4' },
      'Append a migration. Before the first release, rename the only one instead.',
    );
  }));

it('SQLite commits survive a power cut without blocking the event loop', () =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'new', 'leads.db');
    await using database = openTestDatabase({ engine: 'sqlite', file });
    const pragma = async (name: string) =>
      Object.values(
        (await sql<Record<string, unknown>>`${sql.raw(`pragma ${name}`)}`.execute(database.db)).rows[0] ?? {},
      )[0];
    assert.equal(await pragma('journal_mode'), 'wal');
    // Commits are flushed by the driver (sqlite.test.ts).
    assert.equal(await pragma('synchronous'), 1);
    assert.equal(await pragma('foreign_keys'), 1);
    assert.equal(await pragma('busy_timeout'), 0);
  }));
