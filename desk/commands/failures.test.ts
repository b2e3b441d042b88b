import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';

import { sql } from 'kysely';

import { openDatabase } from '#server/db/engine/connect.ts';
import { MATRIX_ENGINES } from '#testing/databases.ts';
import { desk, type CommandResult, deskIn, succeeded } from '#testing/desk.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { inFolder } from '#testing/folder.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { TEST_SECRET, withServer } from '#testing/server-under-test.ts';
import { fillDisk, whyNoDisk, withSmallDisk } from '#testing/small-disk.ts';

const settings = { APP_SECRET: TEST_SECRET };

/** At most two of our sentences, without Node's own text. */
function assertSentence({ exitCode, notes }: CommandResult, sentence: string | RegExp, code = 1): void {
  if (typeof sentence === 'string') assert.equal(notes, sentence);
  else assert.match(notes, sentence);
  assert.doesNotMatch(notes, /^ +at |Error|fault/m);
  assert.equal(exitCode, code);
}

async function makeInstance(folder: string): Promise<{ file: string; list: string }> {
  await openTestService(folder, settings).then(({ close }) => close());
  const list = path.join(folder, 'list.csv');
  const people = Array.from({ length: 2_000 }, (_, n) => `someone-with-a-long-name-${n}@example.com`);
  writeFileSync(list, `email\n${people.join('\n')}\n`);
  return { file: path.join(folder, 'data', 'leads.db'), list };
}

const IMPORT = ['--consent-source', 'Mailchimp'] as const;

for (const [title, hinder, sentence] of [
  [
    'the disk of the database is full',
    'pragma max_page_count = 1',
    'The disk of FILE is full\\. Free some space, and try again\\.$',
  ],
  ['another program locks the database', null, 'FILE is locked by another program, .*Stop that program, '],
  [
    'the database is read-only',
    'pragma query_only = true',
    'The database FILE cannot be created or written \\(attempt to write a readonly database\\)\\.',
  ],
] as const)
  it(`a desk command explains in a sentence that ${title}`, () =>
    inFolder(async (folder) => {
      const { file, list } = await makeInstance(folder);
      const database = openDatabase({ engine: 'sqlite', file }, () => {}, { lockTimeoutMs: 50 });
      const service = await openTestService(folder, settings, { database });
      const other = new DatabaseSync(file);
      if (hinder === null) other.exec('begin immediate');
      else await sql.raw(hinder).execute(database.db);
      const answer = await desk(service, ['import', list, '--consent-source', 'Mailchimp']);
      assertSentence(answer, new RegExp(sentence.replace('FILE', file)));
      other.close();
      await sql`pragma query_only = false`.execute(database.db);
      await service.close();
      await database.close();
    }));

it('a desk command explains in a sentence that the database is damaged', () =>
  inFolder(async (folder) => {
    const { file, list } = await makeInstance(folder);
    await deskIn(folder, settings, ['import', list, ...IMPORT]);
    const bytes = readFileSync(file);
    // Leaves the pages intact that are read at the start.
    writeFileSync(file, bytes.fill(0xa5, bytes.length / 2));
    const sentence = `${file} is not a SQLite database, or is damaged. Restore it from a backup, or name another file in DATABASE_URL.`;
    assertSentence(await deskIn(folder, settings, ['leads', '--state', 'imported']), sentence);
    assertSentence(
      await deskIn(folder, settings, ['backup', path.join(folder, 'backup.db')]),
      `${file} is damaged, so ${path.join(folder, 'backup.db')} was not written. Restore an intact backup, or recover the data (docs/running.md).`,
    );
    assert(!readdirSync(folder).some((name) => /part|backup/.test(name)));
  }));

for (const engine of MATRIX_ENGINES)
  it(`an internal error on ${engine} prints a stack trace without personal data`, () =>
    withServer({ engine }, async (server) => {
      await becomeLead(server, 'ada@example.com');
      await sql`alter table leads drop column company`.execute(server.database.db);
      const { exitCode, notes } = await desk(server.service, ['leads']);
      assert.equal(exitCode, 1);
      assert.match(
        notes,
        /^This is a bug in the software\. Please report it to the project, including these lines:\n\w+ .+\n(?: {4}at .+\n?)+$/,
      );
      assert.doesNotMatch(notes, /ada@|company/);
    }));

describe('desk commands on a full disk', { skip: whyNoDisk() }, () => {
  const FULL = 'the disk is full. Free some space, or choose another place.';
  /** SQLite does not tell the two apart. */
  const FULL_OR_QUOTA = FULL.replace('the disk is full', 'the disk or quota is full');

  it('a desk command on a full disk keeps the previous output file and leaves no partial one', () =>
    inFolder(async (folder) => {
      const { list } = await makeInstance(folder);
      await deskIn(folder, settings, ['import', list, ...IMPORT]);
      await withSmallDisk({ size: '128k' }, async (disk) => {
        const at = (name: string) => path.join(disk, name);
        writeFileSync(at('leads.csv'), 'old');
        for (const [name, ...command] of [
          ['leads.csv', 'export', '--state', 'imported', '--out'],
          ['backup.db', 'backup'],
        ] as const) {
          const sentence = name === 'backup.db' ? FULL_OR_QUOTA : FULL;
          const done = await deskIn(folder, settings, [...command, at(name)]);
          assertSentence(done, `${at(name)} cannot be written: ${sentence}`);
          assert.deepEqual(readdirSync(disk), ['leads.csv']);
        }
        fillDisk(disk);
        assertSentence(
          await deskIn(folder, settings, ['report', '--out', at('report.html')]),
          `${at('report.html')} cannot be written: ${FULL}`,
        );
        assert.deepEqual(readdirSync(disk).toSorted(), ['filler', 'leads.csv']);
        assert.equal(readFileSync(at('leads.csv'), 'utf8'), 'old');
      });
    }));

  it('a desk command on a full disk can read the database and reports that writing fails', () =>
    withSmallDisk({ size: '1500k' }, (disk) =>
      withServer(
        {
          engine: 'sqlite',
          env: settings,
          database: openDatabase({ engine: 'sqlite', file: path.join(disk, 'leads.db') }, () => {}),
        },
        async (server) => {
          await becomeLead(server, 'ada@example.com');
          fillDisk(disk);
          const sentence = /The disk of .+ is full\. Free some space, and try again\.$/;
          for (const command of [
            ['consent', 'verify'],
            ['consent', 'anchor'],
            ['erase', 'ada@example.com', '--yes'],
            ['export', '--since-last', 'crm'],
            ['correct', 'ada@example.com', '--name', 'Ada King'.repeat(9)],
          ])
            assertSentence(await desk(server.service, command), sentence);
          assert.match((await desk(server.service, ['leads'])).out, /ada@example\.com/);
        },
      ),
    ));

  it('a restore on a full disk fails and leaves the database unchanged', () =>
    inFolder(async (folder) => {
      const { list } = await makeInstance(folder);
      await deskIn(folder, settings, ['import', list, ...IMPORT]);
      const backup = path.join(folder, 'backup.db');
      await succeeded(deskIn(folder, settings, ['backup', backup]));
      const test = (size: number, sentence: string) =>
        withSmallDisk({ size: `${size}` }, async (disk) => {
          const own = { ...settings, DATABASE_URL: `file:${disk}/leads.db` };
          await openTestService(folder, own).then(({ close }) => close());
          const content = () =>
            readdirSync(disk).map((name) => [name, readFileSync(path.join(disk, name), 'base64')]);
          const before = content();
          assertSentence(
            await deskIn(folder, own, ['restore', backup, '--only', 'database', '--replace']),
            `${disk}/leads.db cannot be written: ${sentence}`,
          );
          assert.deepEqual(content(), before);
        });
      await test(600 * 1024, FULL);
      // Has room for the copy, but not for removing the words from it.
      await test(statSync(backup).size + 2 ** 20, FULL_OR_QUOTA);
    }));
});
