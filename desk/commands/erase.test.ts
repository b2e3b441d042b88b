import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { sql } from 'kysely';
import { Client } from 'pg';

import { examineDisk } from '#desk/doctor/data-folder.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { sealConsents } from '#server/consent/sealer.ts';
import { rewriteDatabase } from '#server/db/backup/compact.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { countInFiles } from '#testing/database-bytes.ts';
import { createPostgresDatabase, ENGINES, type Engine } from '#testing/databases.ts';
import { desk, deskIn, refused, succeeded } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import { askAndReceive } from '#testing/lead-calls.ts';
import { withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { fillDisk, whyNoDisk, withSmallDisk } from '#testing/small-disk.ts';

const EMAIL = 'zacharias@quillfeather.example';
const NAME = 'Zacharias Quillfeather';
const FORM = 'fields: [{ id: motto, label: Motto, kind: text }]\n';
const MOTTO = 'Quill before feather';
const THEIRS = { form: { name: NAME, answers: { motto: MOTTO } } };
const COMPANY = 'Quillfeather & Daughters';
const NEW_MOTTO = 'Feather before quill';
const OTHERS = 4;

const withFiles = (engine: Engine, act: (server: ServerUnderTest, folder: string) => Promise<void>) =>
  inFolder((folder) =>
    withServer(
      {
        engine,
        campaign: { 'form.yaml': FORM },
        ...(engine === 'sqlite' && { env: { DATABASE_URL: `file:${path.join(folder, 'leads.db')}` } }),
      },
      (server) => act(server, folder),
    ),
  );

async function fill(server: ServerUnderTest): Promise<string> {
  for (let number = 0; number < OTHERS; number += 1) {
    await becomeLead(server, `other-${number}@example.com`, 1, { form: { name: `Other Person ${number}` } });
    if (number === OTHERS / 2) await becomeLead(server, EMAIL, 1, THEIRS);
  }
  await server.advance(30);
  const corrected = ['--company', COMPANY, '--answer', `motto=${NEW_MOTTO}`];
  await desk(server.service, ['correct', EMAIL, ...corrected]);
  await desk(server.service, ['export', '--since-last', 'crm']);
  await sealConsents(server.service);
  const { salt } = await server.database.db
    .selectFrom('consent_chain')
    .select('salt')
    .where('content', 'like', `%${EMAIL}%`)
    .executeTakeFirstOrThrow();
  return salt ?? assert.fail('the proof has a salt');
}

const isNone = (counts: Readonly<Record<string, number>>, what: string) =>
  assert.deepEqual(counts, Object.fromEntries(Object.keys(counts).map((word) => [word, 0])), what);

it('an erasure on PostgreSQL waits for old transactions in other databases of the server', () =>
  withFiles('postgres', async (server) => {
    const words = [EMAIL, NAME, MOTTO, await fill(server)];
    const other = new Client(await createPostgresDatabase());
    await other.connect();
    try {
      await other.query('begin; select pg_current_xact_id()');
      const ended = setTimeout(500).then(() => other.query('commit'));
      await succeeded(desk(server.service, ['erase', EMAIL, '--yes']));
      await ended;
      isNone(await countInFiles(server, words), 'after the erasure');
    } finally {
      await other.end();
    }
  }));

it('a time limit of the PostgreSQL database does not end "desk compact"', () =>
  withFiles('postgres', async ({ config, database }) => {
    const limit = (change: string) =>
      sql`do $$ begin execute format('alter database %I ' || ${sql.lit(change)}, current_database()); end $$`.execute(
        database.db,
      );
    await limit('set statement_timeout = 10');
    try {
      assert.deepEqual(await rewriteDatabase(config.database), { type: 'rewritten' });
    } finally {
      await limit('reset statement_timeout');
    }
  }));

for (const engine of ENGINES) {
  describe(`erased data on ${engine}`, () => {
    it('an erasure removes a person from the database files and later backups', () =>
      withFiles(engine, async (server, folder) => {
        const salt = await fill(server);
        // PostgreSQL's planner keeps samples of each column.
        if (engine === 'postgres') await sql`analyze`.execute(server.database.db);
        const words = [EMAIL, NAME, COMPANY, MOTTO, NEW_MOTTO, salt];
        const before = await countInFiles(server, words);
        for (const word of words) assert.ok(Number(before[word]) > 0, `${word} is found before`);

        const erased = await succeeded(desk(server.service, ['erase', EMAIL, '--yes']));
        assert.match(erased.out, /^Erased: 1 lead, 1 form, /);
        assert.doesNotMatch(erased.out, /_|chain|outbox/, 'tables have no names for a person');
        isNone(await countInFiles(server, words), 'after the erasure');
        if (engine === 'sqlite') {
          const copy = path.join(folder, 'copy.db');
          await succeeded(desk(server.service, ['backup', copy]));
          isNone(await countInFiles(server, words, [copy]), 'in a backup');
        }
        assert.equal(await server.countRows('leads'), OTHERS);
        await becomeLead(server, 'later@example.com');
        await succeeded(desk(server.service, ['consent', 'verify']));
      }));

    it('database files contain no expired data after a rewrite or an emptied SQLite log', () =>
      withFiles(engine, async (server) => {
        const { database } = server.config;
        const now = server.now();
        server.setClock(now - 31 * DAY_MS);
        for (const [email, name] of [
          [EMAIL, NAME],
          ['other@example.com', 'Other Person'],
        ] as const) {
          await askAndReceive(server, email, { name, answers: { motto: MOTTO } });
          await server.advance(0);
        }
        server.setClock(now);
        assert.ok(Number((await countInFiles(server, [EMAIL]))[EMAIL]) > 0);
        const { runHousekeeping } = housekeeperOf(server);
        if (database.engine === 'sqlite') {
          using reader = new DatabaseSync(database.file, { readOnly: true });
          reader.exec('begin');
          reader.prepare('select count(*) from leads').get();
          await runHousekeeping();
          assert.ok(statSync(`${database.file}-wal`).size > 0, 'a reader still needs what the log has');
        }
        await runHousekeeping();
        if (engine === 'postgres') await succeeded(desk(server.service, ['compact']));
        isNone(await countInFiles(server, [EMAIL, NAME, MOTTO]), 'after the expiry');
      }));

    it('"desk compact" rewrites database files that are too large to rewrite in an erasure', () =>
      withFiles(engine, async (server) => {
        const { database } = server.config;
        await fill(server);
        if (database.engine === 'sqlite') {
          // A sparse end, which SQLite ignores.
          truncateSync(database.file, 106_000_000);
          const erased = await succeeded(desk(server.service, ['erase', EMAIL, '--yes']));
          assert.match(erased.notes, /larger than 100 MB.*desk -- compact/);
          assert.equal(statSync(`${database.file}-wal`).size, 0, 'the log is empty');
        } else {
          assert.deepEqual(await rewriteDatabase(database, { largestBytes: 10_000 }), { type: 'too large' });
          await desk(server.service, ['erase', EMAIL, '--yes']);
        }
        const compacted = await succeeded(desk(server.service, ['compact']));
        assert.match(compacted.notes, /was rewritten/);
        isNone(await countInFiles(server, [EMAIL, NAME]), 'after compact');
        assert.equal(await server.countRows('leads'), OTHERS);
      }));

    it('an erasure does not report clean database files while a reader still uses old rows', () =>
      withFiles(engine, async (server) => {
        const { database } = server.config;
        await becomeLead(server, EMAIL, 1, THEIRS);
        await server.advance(0);
        await using held = new AsyncDisposableStack();
        if (database.engine === 'sqlite') {
          const reader = held.use(new DatabaseSync(database.file, { readOnly: true }));
          reader.exec('begin');
          reader.prepare('select count(*) from leads').get();
        } else {
          const began = Promise.withResolvers<void>();
          const ended = Promise.withResolvers<void>();
          const holding = server.database.db.transaction().execute(async (tx) => {
            await sql`select count(*) from leads`.execute(tx);
            began.resolve();
            await ended.promise;
          });
          await began.promise;
          held.defer(async () => {
            ended.resolve();
            await holding;
          });
        }
        const erased = await desk(server.service, ['erase', EMAIL, '--yes']);
        assert.equal(erased.exitCode, 1);
        assert.match(erased.out, /^Erased: 1 lead/);
        assert.match(erased.notes, /still uses them.*desk -- compact/s);
        await held.disposeAsync();
        await succeeded(desk(server.service, ['compact']));
        isNone(await countInFiles(server, [EMAIL, NAME]), 'after compact');
      }));
  });
}

it('"desk compact" on a full disk changes nothing and states the required space', { skip: whyNoDisk() }, () =>
  withSmallDisk({ size: '8m' }, async (disk) => {
    const env = { DATABASE_URL: `file:${path.join(disk, 'leads.db')}`, APP_SECRET: 'x'.repeat(40) };
    writeFileSync(path.join(disk, 'leads.db'), '');
    await succeeded(deskIn(disk, env, ['compact']));
    // Leaves enough room to open the database, but not for a second copy.
    const filler = fillDisk(disk);
    truncateSync(filler, statSync(filler).size - 128 * 1024);
    await refused(deskIn(disk, env, ['compact']), /The disk has too little space .* Free .* MB/i);
  }),
);

it(
  '"desk compact" and the doctor follow a symbolic link to the disk of the database',
  { skip: whyNoDisk() },
  () =>
    withSmallDisk({ size: '1m' }, async (disk) => {
      const folder = path.dirname(disk);
      const link = path.join(disk, 'leads.db');
      writeFileSync(path.join(folder, 'leads.db'), '');
      symlinkSync(path.join(folder, 'leads.db'), link);
      fillDisk(disk);
      const env = { DATABASE_URL: `file:${link}`, APP_SECRET: 'x'.repeat(40) };
      await succeeded(deskIn(folder, env, ['compact']));
      const finding = await examineDisk({ engine: 'sqlite', file: link }, folder);
      assert.doesNotMatch(JSON.stringify(finding), / 0 MiB free/);
    }),
);

it('an erasure deletes stored mail files to or about the person', () =>
  inFolder(async (folder) => {
    const env = { DATABASE_URL: 'file:./data/leads.db', SMTP_URL: 'smtp://127.0.0.1:9' };
    const mail = path.join(folder, 'data', 'mail');
    mkdirSync(mail, { recursive: true });
    const message = (to: string, text: string) =>
      `To: ${to}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(text).toString('base64')}\r\n`;
    writeFileSync(path.join(mail, 'to.eml'), message(EMAIL.toUpperCase(), 'Your code is 123456.'));
    writeFileSync(path.join(mail, 'about.eml'), message('operator@example.com', `New lead: ${EMAIL}`));
    writeFileSync(path.join(mail, 'other.eml'), message(`x${EMAIL}`, 'Your code is 123456.'));
    writeFileSync(path.join(mail, 'notes.txt'), EMAIL);
    writeFileSync(path.join(folder, 'data', 'leads.db'), '');
    writeFileSync(path.join(folder, 'list.csv'), `email,name\n${EMAIL},${NAME}\n`);
    await succeeded(deskIn(folder, env, ['import', 'list.csv', '--consent-source', 'Mailchimp']));
    const { out } = await succeeded(deskIn(folder, env, ['erase', EMAIL, '--yes']));
    assert.equal(out, 'Erased: 1 imported person, 2 e-mail files.\n');
    assert.deepEqual(readdirSync(mail).toSorted(), ['notes.txt', 'other.eml']);
    writeFileSync(path.join(mail, 'to.eml'), message(EMAIL, 'Your code is 123456.'));
    mkdirSync(path.join(mail, 'a.eml'));
    const late = await deskIn(folder, env, ['erase', EMAIL, '--yes']);
    assert.equal(late.out, 'Erased: 1 e-mail file.\n', late.notes);
    assert.match((await deskIn(folder, env, ['erase', EMAIL, '--yes'])).notes, /^No data is stored about/);
  }));
