import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { Client } from 'pg';

import { mustHaveNoOtherClients } from '#desk/commands/move.ts';
import { createPostgresDatabase } from '#testing/databases.ts';
import { deskIn, refused, succeeded } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { onPostgres } from '#testing/postgres-server.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';

const settings = { APP_SECRET: TEST_SECRET };
const move = (folder: string, to: string) => deskIn(folder, settings, ['move', '--to', to]);

const tablesIn = (url: string): Promise<string[]> =>
  onPostgres(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
    );
    return rows.map(({ name }) => name);
  });

const started = (folder: string) => openTestService(folder, settings).then(({ close }) => close());

it('"desk move" rejects every target that DATABASE_URL would reject', () =>
  inFolder(async (folder) => {
    for (const [to, sentence] of [
      ['mysql://db/leads', '--to must be a URL such as file:./data/leads.db or postgres://user@host/name.'],
      [
        'postgres://guide:hunter2@db.example.com/leads',
        '--to sends a password to another machine, so it must specify the encryption. Add ?sslmode=verify-full (TLS with certificate check), ?sslmode=no-verify (TLS with any certificate) or ?sslmode=disable (no encryption, only in your own network).',
      ],
    ] as const)
      await refused(move(folder, to), sentence, 2);
  }));

it('a move waits for connections that a stopped site has not ended yet', async () => {
  const url = await createPostgresDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  const end = setTimeout(300).then(() => client.end());
  await mustHaveNoOtherClients({ engine: 'postgres', url });
  await end;
});

it('"desk move" names the incorrect option if PostgreSQL is unusable', () =>
  inFolder(async (folder) => {
    await started(folder);
    const sentence =
      'PostgreSQL at 127.0.0.1:9 cannot be reached (ECONNREFUSED). Start PostgreSQL, or correct --to.';
    await refused(move(folder, 'postgres://127.0.0.1:9/leads'), sentence);
  }));

it('"desk move" refuses a database if another program\'s tables have our names', () =>
  inFolder(async (folder) => {
    await started(folder);
    const to = await createPostgresDatabase();
    await onPostgres(to, (client) =>
      client.query('create table leads (id int); create table other (id int)'),
    );
    await refused(
      move(folder, to),
      'The PostgreSQL database already contains another program’s tables with the same names (leads). Name an empty database.',
    );
    assert.deepEqual(await tablesIn(to), ['leads', 'other']);
  }));

it('"desk move" to PostgreSQL says where the secret is', () =>
  inFolder(async (folder) => {
    for (const [APP_SECRET, advice] of [
      ['', ' and APP_SECRET to the content of the file app-secret,'],
      [TEST_SECRET, ', keep APP_SECRET,'],
    ] as const) {
      const own = { APP_SECRET, DATABASE_URL: `file:./${APP_SECRET.length}/leads.db` };
      await openTestService(folder, own).then(({ close }) => close());
      const to = await createPostgresDatabase();
      const { notes } = await succeeded(deskIn(folder, own, ['move', '--to', to]));
      assert(notes.endsWith(`Set DATABASE_URL to the new database${advice} and start the site.`), notes);
    }
  }));

it('"desk move" refuses a damaged database', () =>
  inFolder(async (folder) => {
    await started(folder);
    const file = path.join(folder, 'data', 'leads.db');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xa5, bytes.length - 8192));
    const to = await createPostgresDatabase();
    await refused(
      move(folder, to),
      `Nothing was copied, because ${file} is damaged. Restore an intact backup, or recover the data (docs/running.md).`,
    );
    assert.deepEqual(await tablesIn(to), []);
  }));

it('"desk move" requires a database stored in a file', () =>
  inFolder(async (folder) => {
    const inMemory = { ...settings, DATABASE_URL: 'file::memory:' };
    const to = 'postgres://127.0.0.1:9/x';
    await refused(deskIn(folder, inMemory, ['move', '--to', to]), /^The database is only in memory\./);
    await refused(move(folder, to), /^There is no database at /);
  }));
