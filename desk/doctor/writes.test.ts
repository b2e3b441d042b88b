import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import type { Config } from '#server/settings/settings.ts';
import { viewDatabase } from '#desk/doctor/database.ts';
import { behindPgBouncer, createPostgresDatabase } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { withTableOnSmallDisk } from '#testing/postgres-on-a-small-disk.ts';
import { onPostgres } from '#testing/postgres-server.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';
import { fillDisk, whyNoDisk } from '#testing/small-disk.ts';

async function used(folder: string, DATABASE_URL: string): Promise<Config['database']> {
  const service = await openTestService(folder, { DATABASE_URL, APP_SECRET: TEST_SECRET });
  await service.close();
  return service.config.database;
}

async function look(database: Config['database']): Promise<string> {
  const { findings } = await viewDatabase(database, new AbortController().signal);
  return findings.map(({ state, sentence }) => `${state}: ${sentence}`).join('\n');
}

describe('write test of the doctor', () => {
  it("the doctor's write test leaves nothing behind in a writable PostgreSQL", () =>
    inFolder(async (folder) => {
      const url = await createPostgresDatabase();
      assert.match(
        await look(await used(folder, url)),
        /^ok: .* responds, accepts writes, and has all tables\.$/,
      );
      const { rows } = await onPostgres(url, (client) => client.query('select key from limit_windows'));
      assert.deepEqual(rows, []);
    }));

  it('the doctor reports a PostgreSQL user without write permission', { skip: behindPgBouncer() }, () =>
    inFolder(async (folder) => {
      const url = new URL(await createPostgresDatabase());
      await used(folder, url.href);
      const name = `reader_${url.pathname.slice(1)}`;
      await onPostgres(url.href, async (client) => {
        await client.query(`create role ${name} login password 'reader'`);
        await client.query(`grant select on all tables in schema public to ${name}`);
      });
      Object.assign(url, { username: name, password: 'reader' });
      assert.match(
        await look({ engine: 'postgres', url: url.href }),
        /^problem: PostgreSQL at \S+ does not let this user write to the tables\. Make the user the owner of the database\.$/,
      );
    }),
  );

  it('the doctor reports a PostgreSQL with a full disk', { skip: whyNoDisk() || behindPgBouncer() }, () =>
    inFolder(async (folder) => {
      const url = await createPostgresDatabase();
      const database = await used(folder, url);
      await withTableOnSmallDisk(url, 'limit_windows', async (disk) => {
        const filler = fillDisk(disk);
        assert.match(
          await look(database),
          /^problem: The disk of PostgreSQL at \S+ is full, so forms are refused\. Free some space\.$/,
        );
        rmSync(filler);
        assert.match(await look(database), /^ok: /);
      });
    }),
  );

  it('the doctor reports a read-only SQLite file', (test) =>
    inFolder(async (folder) => {
      const database = await used(folder, 'file:./leads.db');
      const file = path.join(folder, 'leads.db');
      if (spawnSync('chattr', ['+i', file]).status !== 0)
        return test.skip(
          'chattr makes a file immutable, which takes root on Linux and a file system that knows it',
        );
      try {
        assert.equal(
          await look(database),
          `problem: ${file} or its folder is read-only. Check whether the file system became read-only after an error (dmesg) or the file was made immutable (lsattr).`,
        );
      } finally {
        spawnSync('chattr', ['-i', file]);
      }
      return assert.match(await look(database), /^ok: /);
    }));
});
