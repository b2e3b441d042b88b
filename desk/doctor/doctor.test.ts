// desk doctor as an operator calls it: what it finds, how it ends, and that it touches nothing. On both engines where the database is looked at.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';

import { sql } from 'kysely';

import { runDesk } from '#desk/commands/all-commands.ts';
import { readConfig, resolvePaths } from '#server/settings/settings.ts';
import { openDatabase } from '#server/db/engine/connect.ts';
import { examineClock } from '#desk/doctor/database.ts';
import { judgeRoom } from '#desk/doctor/disk.ts';
import type { Patient } from '#desk/doctor/doctor.ts';
import type { Finding } from '#desk/doctor/finding.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import {
  behindPgBouncer,
  createPostgresDatabase,
  ENGINES,
  freshDatabase,
  type Engine,
} from '#testing/databases.ts';
import { KEPT_COMPILED } from '#testing/environment.ts';
import { startDnsServer, type NameRecords } from '#testing/dns-server.ts';
import { startInbox, type Inbox } from '#testing/inbox.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { TEST_SECRET, withServer } from '#testing/server-under-test.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

const HEALTHY: Readonly<Record<string, NameRecords>> = {
  'example.com': { TXT: ['v=spf1 mx -all'], MX: [[10, 'mail.example.com']] },
  'mail.example.com': { A: ['93.184.215.14'] },
  '_dmarc.example.com': { TXT: ['v=DMARC1; p=reject'] },
};

type Instance = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly inbox: Inbox;
  readonly dnsServers: readonly string[];
};

/** An instance that is all right: with a database that a server has used, a mail server, and DNS. */
async function withInstance(
  { engine, zone = HEALTHY }: { engine: Engine; zone?: Readonly<Record<string, NameRecords>> },
  test: (instance: Instance) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'doctor-'));
  const inbox = await startInbox();
  const dns = await startDnsServer(zone);
  try {
    const env = {
      DATABASE_URL: engine === 'sqlite' ? 'file:./data/leads.db' : await createPostgresDatabase(),
      SMTP_URL: inbox.url,
      MAIL_FROM: 'Guide <guide@example.com>',
      PUBLIC_URL: 'https://guide.example.com',
      APP_SECRET: TEST_SECRET,
      PORT: '0',
    };
    const service = await openTestService(folder, env, { clock: () => NOW });
    await service.close();
    await test({ folder, env, inbox, dnsServers: [dns.address] });
  } finally {
    await dns.close();
    await inbox.close();
    rmSync(folder, { recursive: true });
  }
}

type Examination = {
  readonly exitCode: number;
  readonly out: string;
  readonly notes: string;
};

/** Runs the command. */
async function doctor(
  patient: Pick<Patient, 'settings' | 'campaignFolder' | 'dnsServers'>,
  args: readonly string[] = [],
  now = NOW,
): Promise<Examination> {
  const out: string[] = [];
  const notes: string[] = [];
  const exitCode = await runDesk(
    {
      service: () => assert.fail('the doctor does without the service'),
      print: async (words) => void out.push(words),
      note: (line) => void notes.push(line),
      confirm: async () => false,
      progress: () => {},
      paint: (_, words) => words,
      signal: new AbortController().signal,
      clock: () => now,
      patient,
    },
    ['doctor', ...args],
  );
  return { exitCode, out: out.join(''), notes: notes.join('\n') };
}

const patientOf = (
  { folder, dnsServers }: Pick<Instance, 'folder' | 'dnsServers'>,
  env: Readonly<Record<string, string>>,
  campaignFolder = TEST_CAMPAIGN,
): Pick<Patient, 'settings' | 'campaignFolder' | 'dnsServers'> => {
  const read = readConfig(env);
  return {
    settings:
      read.type === 'config'
        ? { type: 'settings', config: resolvePaths(read.config, folder), folder, warnings: read.warnings }
        : { type: 'complaints', complaints: [...read.complaints] },
    campaignFolder,
    dnsServers,
  };
};

type Circumstances = { readonly env?: Readonly<Record<string, string>>; readonly now?: number };

/** What it finds in an instance of which some settings are others. */
async function findingsIn(
  instance: Instance,
  { env = {}, now = NOW }: Circumstances = {},
): Promise<readonly Finding[]> {
  const { out } = await doctor(patientOf(instance, { ...instance.env, ...env }), ['--json'], now);
  return (JSON.parse(out) as { findings: Finding[] }).findings;
}

/** What it finds about one thing. */
const findingsAbout = async (
  check: string,
  instance: Instance,
  circumstances?: Circumstances,
): Promise<readonly Finding[]> =>
  (await findingsIn(instance, circumstances)).filter((finding) => finding.check === check);

for (const engine of ENGINES) {
  describe(`the doctor on ${engine}`, () => {
    const skip = engine === 'postgres' && behindPgBouncer();
    it('finds nothing wrong where nothing is, and leaves the database as it was', { skip }, () =>
      withInstance({ engine }, async (instance) => {
        const file = path.join(instance.folder, 'data/leads.db');
        const before = engine === 'sqlite' ? readFileSync(file) : null;
        const { exitCode, out, notes } = await doctor(patientOf(instance, instance.env), ['--json']);
        const found = JSON.parse(out) as { healthy: boolean; problems: number; findings: Finding[] };
        assert.equal(exitCode, 0, out);
        assert.deepEqual([found.healthy, found.problems], [true, 0]);
        assert.equal(notes, '0 problems and 0 warnings.');
        const states = Object.fromEntries(found.findings.map(({ check, state }) => [check, state]));
        assert.deepEqual(states, {
          settings: 'ok',
          // The sample's links at the foot of the page lead nowhere.
          words: 'note',
          page: 'note',
          database: 'ok',
          disk: engine === 'sqlite' ? 'ok' : 'note',
          clock: engine === 'sqlite' ? 'note' : 'ok',
          secret: 'ok',
          files: 'ok',
          'mail account': 'note',
          sender: 'ok',
          MX: 'ok',
          SPF: 'ok',
          DKIM: 'note',
          DMARC: 'note',
          'reverse DNS': 'note',
        });
        if (before) assert.deepEqual(readFileSync(file), before);
        assert.deepEqual(instance.inbox.mails, []);
      }),
    );

    it('says when the clock is behind the newest row', () =>
      withInstance({ engine }, async (instance) => {
        const service = await openTestService(instance.folder, instance.env, { clock: () => NOW });
        await service.database.db
          .insertInto('outbox')
          .values({ id: 'a', recipient: 'ada@example.com', due_at: NOW, created_at: NOW, turn_at: NOW })
          .execute();
        await service.close();
        const [behind] = await findingsAbout('clock', instance, { now: NOW - 60_000 });
        assert.equal(behind?.state, 'problem');
        assert.match(
          behind.sentence,
          /11:59:00\.000Z, and the newest row was made at 2026-11-20T12:00:00\.000Z/,
        );
        const [well] = await findingsAbout('clock', instance);
        assert.equal(well?.state, 'ok');
      }));

    it('says when a newer version has used the database, and when its tables are of an older one', () =>
      withInstance({ engine }, async (instance) => {
        const { settings } = patientOf(instance, instance.env);
        assert(settings.type === 'settings');
        const { db, close } = openDatabase(settings.config.database, () => {});
        await sql`insert into kysely_migration (name, timestamp) values ('2099-01-01-flying-cars', '2099')`.execute(
          db,
        );
        const [newer] = await findingsAbout('database', instance);
        assert.equal(newer?.state, 'problem');
        assert.match(newer.sentence, /used by a newer version/);
        await sql`delete from kysely_migration where name > '2026-11-20-zzz'`.execute(db);
        const [older] = await findingsAbout('database', instance);
        assert.deepEqual(
          [older?.state, older?.sentence.slice(0, 43)],
          ['note', 'The tables are those of an older version; t'],
        );
        await close();
      }));

    it('says when the secret is none the database knows', () =>
      withInstance({ engine }, async (instance) => {
        const env = { APP_SECRET: 'q8Zr0n3uTt5xw1Lk7Yp2Vb6Hd4Jf9Gs0Ma' };
        const [other] = await findingsAbout('secret', instance, { env });
        assert.equal(other?.state, 'warning');
        assert.match(other.sentence, /none that this database was used with/);
      }));
  });
}

describe('the doctor', () => {
  it('says in the terminal what to publish, ends with 1, and sends a sample with --send', () =>
    withInstance({ engine: 'sqlite', zone: { 'example.com': {} } }, async (instance) => {
      const { exitCode, out, notes } = await doctor(patientOf(instance, instance.env), [
        '--send',
        'ada@example.com',
      ]);
      assert.equal(exitCode, 1);
      assert.match(
        out,
        /^problem +SPF +example\.com has no SPF record.*\n +publish +name: +example\.com\n +type: +TXT\n +value: +v=spf1 mx ~all\n/m,
      );
      assert.match(out, /^ok +sample +The mail server took a sample for ada@example\.com and said “250 /m);
      assert.match(notes, /^2 problems and 1 warning\.$/);
      await instance.inbox.waitForMail('ada@example.com');
    }));

  it('asks the domain of return paths for MX and SPF, where there is one', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const found = await findingsIn(instance, { env: { BOUNCE_DOMAIN: 'bounces.example.com' } });
      const about = (check: string) => found.filter((finding) => finding.check === check);
      assert.deepEqual(
        about('SPF').map(({ state, publish }) => [state, publish?.name]),
        [['problem', 'bounces.example.com']],
      );
      const mx = about('MX');
      assert.deepEqual(
        mx.map(({ state }) => state),
        ['ok', 'problem'],
      );
      assert.match(mx[1]?.sentence ?? '', /bounces\.example\.com/);
      const [, finding] = about('sender');
      assert.match(
        finding?.sentence ?? '',
        /bounces\.example\.com \(BOUNCE_DOMAIN\), which needs an MX record/,
      );
    }));

  it('sends a sample with a return path at that domain, as codes have one', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const env = { ...instance.env, BOUNCE_DOMAIN: 'bounces.example.com' };
      await doctor(patientOf(instance, env), ['--send', 'ada@example.com']);
      const { from } = await instance.inbox.waitForMail('ada@example.com');
      assert.match(from, /@bounces\.example\.com$/);
    }));

  it('says when the secret is easy to guess', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      for (const guessable of [
        'a'.repeat(40),
        'k9Xw2mPq7r'.repeat(4),
        'my-very-own-password-for-the-page-1',
      ]) {
        const [found] = await findingsAbout('secret', instance, { env: { APP_SECRET: guessable } });
        assert.equal(found?.state, 'problem', guessable);
      }
    }));

  it('looks at everything else when the words are wrong, and says so when the settings are', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const words = path.join(instance.folder, 'words');
      mkdirSync(words);
      const wrongWords = await doctor(patientOf(instance, instance.env, words), [
        '--send',
        'ada@example.com',
      ]);
      assert.equal(wrongWords.exitCode, 1);
      assert.match(wrongWords.out, /^problem +words +.*consent\.yaml/m);
      assert.match(wrongWords.out, /^ok +database /m);
      assert.match(wrongWords.out, /^ok +sample /m);

      const wrong = await doctor(patientOf(instance, { PORT: 'http', DATABASE_URL: 'x' }), [
        '--json',
        '--send',
        'ada@example.com',
      ]);
      assert.equal(wrong.exitCode, 1);
      const { findings } = JSON.parse(wrong.out) as { findings: Finding[] };
      assert.deepEqual(
        findings.map(({ check, state }) => `${state} ${check}`),
        [
          'problem settings',
          'problem settings',
          'ok words',
          'note words',
          'note all the rest',
          'problem sample',
        ],
      );
    }));

  it('refuses a sample to what is no address, and tries nothing', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const { exitCode, out, notes } = await doctor(patientOf(instance, instance.env), ['--send', 'ada']);
      assert.deepEqual([exitCode, out], [2, '']);
      assert.match(notes, /"ada" is not an e-mail address/);
    }));

  it('says when the database is away, moved, no database, or damaged', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const about = async (url?: string) => {
        const [found] = await findingsAbout('database', instance, url ? { env: { DATABASE_URL: url } } : {});
        return `${found?.state}: ${found?.sentence}`;
      };
      const file = path.join(instance.folder, 'data/leads.db');
      assert.match(
        await about('postgres://127.0.0.1:1/leads'),
        /^problem: PostgreSQL at 127\.0\.0\.1:1 cannot be reached/,
      );
      assert.match(await about('file::memory:'), /^warning: The database is kept in memory/);
      assert.match(await about('file:./elsewhere/leads.db'), /^note: There is no database at .*elsewhere/);
      writeFileSync(path.join(instance.folder, 'garbage.db'), 'no database, '.repeat(1000));
      assert.match(await about('file:./garbage.db'), /^problem: .*garbage\.db is no SQLite database/);

      // A page in the middle of it.
      const damaged = path.join(instance.folder, 'damaged.db');
      const bytes = readFileSync(file);
      writeFileSync(damaged, bytes);
      const descriptor = openSync(damaged, 'r+');
      writeSync(descriptor, Buffer.alloc(4096, 0xff), 0, 4096, Math.floor(bytes.length / 4096 / 2) * 4096);
      closeSync(descriptor);
      // Which sentence it is depends on whose page that was.
      assert.match(
        await about('file:./damaged.db'),
        /^problem: .*damaged\.db is (no SQLite database, or is )?damaged/,
      );

      rmSync(file);
      writeFileSync(path.join(instance.folder, 'data/app-secret'), 'x'.repeat(43));
      assert.match(await about(), /^problem: There is no database at .*leads\.db, and there was/);
    }));

  it('says when the kept secret is gone or cut short, and when others can read what is ours', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const secretFile = path.join(instance.folder, 'data/app-secret');
      const env = { APP_SECRET: '' };
      const secret = async () => (await findingsAbout('secret', instance, { env }))[0];
      const missing = await secret();
      assert.equal(missing?.state, 'problem');
      assert.match(missing.sentence, /app-secret is missing, though this database was used with a secret/);
      writeFileSync(secretFile, 'cut', { mode: 0o600 });
      assert.match((await secret())?.sentence ?? '', /cut short/);
      writeFileSync(secretFile, TEST_SECRET.padEnd(43, 'q8Zr0n3u'), { mode: 0o600 });
      chmodSync(secretFile, 0o644);
      assert.match((await secret())?.sentence ?? '', /none that this database was used with/);
      const [open] = await findingsAbout('files', instance, { env });
      assert.equal(open?.state, 'warning');
      assert.match(open.sentence, /^Other users of this machine can look into .*app-secret/);
    }));

  it('asks a running page for its health, and learns what only the page can see: its database file is gone', () =>
    withInstance({ engine: 'sqlite' }, async (instance) => {
      const file = path.join(instance.folder, 'served.db');
      const database = await freshDatabase('sqlite', { file });
      let port = '';
      const page = async () => {
        const [found] = await findingsAbout('page', instance, { env: { PORT: port } });
        return `${found?.state}: ${found?.sentence}`;
      };
      await withServer({ engine: 'sqlite', database }, async ({ app }) => {
        port = new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port;
        assert.equal(await page(), `ok: The page runs on port ${port}, and says that all is well.`);
        rmSync(file);
        assert.match(
          await page(),
          /^problem: The page runs .* says: The database file was deleted or replaced/,
        );
      });
      assert.equal(await page(), `note: The page does not run on port ${port} of this machine.`);
      const other = createHttpServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
      await once(other, 'listening');
      port = String((other.address() as AddressInfo).port);
      assert.equal(await page(), `problem: Port ${port} is taken by another program.`);
      other.close();
    }));

  const skip = behindPgBouncer();
  it('says by how much the clock of PostgreSQL differs, and that it takes no writes', { skip }, () =>
    withInstance({ engine: 'postgres' }, async (instance) => {
      const url = new URL(instance.env['DATABASE_URL'] ?? '');
      url.searchParams.set('options', '-c default_transaction_read_only=on');
      const [found] = await findingsAbout('database', instance, { env: { DATABASE_URL: url.href } });
      assert.equal(found?.state, 'problem');
      assert.match(found.sentence, /takes no writes\. Name the primary server/);

      const look = { pending: [], unknown: [], secretIds: [], newestAt: null, writeFault: null };
      const about = (clockAheadMs: number) => examineClock({ ...look, clockAheadMs }, NOW)[0];
      assert.equal(about(-900)?.state, 'ok');
      assert.match(
        about(90_000)?.sentence ?? '',
        /^The clock of the database is 90 seconds ahead of this machine's/,
      );
      assert.match(about(-90_000)?.sentence ?? '', /90 seconds behind this machine's/);
    }),
  );

  it('judges the room on the disk', () => {
    const room = (freeBytes: number, filesLeft: number | null = null) =>
      judgeRoom('/srv/guide', { freeBytes, filesLeft });
    assert.deepEqual(room(5 * 1024 ** 3), {
      check: 'disk',
      state: 'ok',
      sentence: 'The disk of /srv/guide has 5.0 GiB free.',
    });
    assert.equal(room(500 * 1024 ** 2).state, 'warning');
    assert.equal(room(50 * 1024 ** 2).state, 'problem');
    assert.equal(room(5 * 1024 ** 3, 3).state, 'problem');
  });

  it('ends in time when everything that it asks is silent', async () => {
    const silent = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const names = ['example.com', '_dmarc.example.com', 'mail.example.com'];
    const dns = await startDnsServer(
      Object.fromEntries(names.map((name) => [name, { fault: 'silence' } as const])),
    );
    const folder = mkdtempSync(path.join(os.tmpdir(), 'doctor-'));
    try {
      const patient = patientOf(
        { folder, dnsServers: [dns.address] },
        {
          DATABASE_URL: `postgres://user@127.0.0.1:${port}/leads`,
          SMTP_URL: `smtp://127.0.0.1:${port}`,
          PORT: String(port),
          MAIL_FROM: 'guide@example.com',
          APP_SECRET: TEST_SECRET,
        },
      );
      const { exitCode, out } = await doctor(patient, ['--send', 'ada@example.com']);
      assert.equal(exitCode, 1);
      for (const check of ['page', 'database', 'mail account', 'MX', 'SPF', 'DMARC', 'sample'])
        assert.match(out, new RegExp(`^problem +${check} `, 'm'));
    } finally {
      await dns.close();
      silent.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('as a process prints one document and nothing else, and works where nothing was ever started', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'doctor-'));
    writeFileSync(path.join(folder, '.env'), 'PORT=http\n');
    const child = spawn(
      process.execPath,
      [path.resolve(import.meta.dirname, '../desk.ts'), 'doctor', '--json'],
      {
        env: {
          PATH: process.env['PATH'],
          INSTANCE_FOLDER: folder,
          CAMPAIGN_FOLDER: TEST_CAMPAIGN,
          ...KEPT_COMPILED,
        },
        cwd: folder,
      },
    );
    const [out, notes, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number]>,
    ]);
    rmSync(folder, { recursive: true });
    assert.equal(code, 1, notes);
    const { healthy, findings } = JSON.parse(out) as { healthy: boolean; findings: Finding[] };
    assert.equal(healthy, false);
    assert.match(findings[0]?.sentence ?? '', /PORT must be a whole number/);
    assert.equal(notes, '1 problem and 0 warnings.\n');
  });
});
