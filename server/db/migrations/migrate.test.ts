import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

import { sql } from 'kysely';

import type { Config } from '#server/settings/settings.ts';
import { openDatabase } from '#server/db/engine/connect.ts';
import { MIGRATIONS, migrate } from '#server/db/migrations/migrate.ts';
import { createPostgresDatabase, ENGINES } from '#testing/databases.ts';

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
  describe(`migrations on ${engine}`, () => {
    it('migrations run once when many processes start together', async () => {
      const folder = mkdtempSync(path.join(os.tmpdir(), 'migrate-'));
      const config: Config['database'] =
        engine === 'sqlite'
          ? { engine, file: path.join(folder, 'leads.db') }
          : { engine, url: await createPostgresDatabase() };
      try {
        await Promise.all(Array.from({ length: 3 }, () => migrateInOwnProcess(config)));
        const database = openDatabase(config, () => {});
        await migrate(database);
        const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(database.db);
        await database.close();
        assert.deepEqual(
          applied.rows.map(({ name }) => name),
          Object.keys(MIGRATIONS),
        );
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });
}

describe('SQLite settings', () => {
  it('SQLite commits survive a power cut without blocking the event loop', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'sqlite-'));
    const database = openDatabase({ engine: 'sqlite', file: path.join(folder, 'new', 'leads.db') }, () => {});
    try {
      const pragma = async (name: string) =>
        Object.values(
          (await sql<Record<string, unknown>>`${sql.raw(`pragma ${name}`)}`.execute(database.db)).rows[0] ??
            {},
        )[0];
      assert.equal(await pragma('journal_mode'), 'wal');
      assert.equal(await pragma('synchronous'), 2);
      assert.equal(await pragma('foreign_keys'), 1);
      assert.equal(await pragma('busy_timeout'), 0);
    } finally {
      await database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
