import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

import { TABLE_NAMES } from '#server/db/all-tables.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { makeNode, unlessRoot } from '#testing/device-nodes.ts';
import { KEPT_COMPILED } from '#testing/environment.ts';
import { inFolder } from '#testing/folder.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { createPostgresDatabase, type Engine } from '#testing/databases.ts';
import { desk, type CommandResult, deskIn, refused, succeeded } from '#testing/desk.ts';
import { becomeLeadAt } from '#testing/post-json.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { TEST_SECRET, withServer } from '#testing/server-under-test.ts';
import { siteSettings, startSite } from '#testing/start-site.ts';

type Settings = Readonly<Record<string, string>>;

const DESK = path.resolve(import.meta.dirname, 'desk.ts');
const settings: Settings = { APP_SECRET: TEST_SECRET };

const optionsIn = (folder: string, env: Settings) => ({
  env: {
    PATH: process.env['PATH'],
    INSTANCE_FOLDER: folder,
    CAMPAIGN_FOLDER: TEST_CAMPAIGN,
    ...KEPT_COMPILED,
    ...env,
  },
  cwd: folder,
});

const start = (folder: string, env: Settings, args: readonly string[]) =>
  spawn(process.execPath, [DESK, ...args], optionsIn(folder, env));

async function runProcess(
  folder: string,
  env: Settings,
  args: readonly string[],
  { out: stdout = 'pipe', notes: stderr = 'pipe' }: { out?: number | 'pipe'; notes?: number | 'pipe' } = {},
) {
  const child = spawn(process.execPath, [DESK, ...args], {
    ...optionsIn(folder, env),
    stdio: ['ignore', stdout, stderr],
  });
  const [out, notes, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, out, notes };
}

const script = findProgram('script');
const noTerminal = script === undefined && notTested('script');

function startOnTerminal(folder: string, env: Settings, args: readonly string[]) {
  const command = [process.execPath, DESK, ...args].map((part) => `'${part}'`).join(' ');
  return spawn(script ?? '', ['-qec', command, '/dev/null'], optionsIn(folder, env));
}

const withPeople = (others: number, test: (folder: string) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    await openTestService(folder, settings).then(({ close }) => close());
    const people = ['ada', ...Array.from({ length: others }, (_, at) => `p${at}`)];
    writeFileSync(
      path.join(folder, 'list.csv'),
      ['email', ...people.map((name) => `${name}@example.com`)].join('\n'),
    );
    await succeeded(deskIn(folder, settings, ['import', 'list.csv', '--consent-source', 'a fair']));
    await test(folder);
  });

it('desk commands work while a server is running', async () => {
  const site = await startSite();
  const env = siteSettings(site.databaseUrl, site.inbox);
  try {
    await becomeLeadAt(site.url, site.inbox);
    const inColour = { ...env, FORCE_COLOR: '1' };
    const listed = await runProcess(site.folder, inColour, ['leads']);
    assert.equal(listed.code, 0, listed.notes);
    assert(listed.out.startsWith('\u001B[1mfirst verified'), listed.out);
    assert.match(listed.out, /ada@example\.com/);
    assert.equal((await fetch(`${site.url}/api/me`)).status, 404);
    assert.doesNotMatch(site.output(), /desk/i, 'the desk runs only if it is configured');
    const erased = await runProcess(site.folder, env, ['erase', 'ada@example.com']);
    assert.equal(erased.code, 1, 'nobody was there to say yes');
    const walking = ['bob', 'cay', 'dan'].map((name) =>
      becomeLeadAt(site.url, site.inbox, `${name}@example.com`),
    );
    const gone = await runProcess(site.folder, env, ['erase', 'ada@example.com', '--yes']);
    assert.equal(gone.code, 0, gone.notes);
    await Promise.all(walking);
    await becomeLeadAt(site.url, site.inbox, 'fay@example.com');
    for (const name of ['leads.db', 'leads.db-wal'])
      assert.ok(!readFileSync(path.join(site.folder, 'data', name)).includes('ada@example.com'), name);
  } finally {
    await site.close();
  }
});

describe('moving all data', () => {
  const fill = async (
    { engine, file }: { engine: Engine; file?: string },
    test: (url: string, run: (...args: string[]) => Promise<CommandResult>) => Promise<void>,
  ): Promise<{ url: string; anchor: string }> => {
    let filled = { url: '', anchor: '' };
    await withServer(
      { engine, env: file === undefined ? {} : { DATABASE_URL: `file:${file}` } },
      async (server) => {
        const run = (...args: string[]) => desk(server.service, args);
        await becomeLead(server, 'ada@example.com');
        await run('correct', 'ada@example.com', '--name', 'Ada Kíng ✓');
        await becomeLead(server, 'bob@example.com');
        await run('suppress', 'add', 'bob@example.com', '--reason', 'unsubscribed');
        const { database } = server.config;
        const url = database.engine === 'sqlite' ? `file:${database.file}` : database.url;
        await test(url, run);
        await server.advance(61);
        filled = { url, anchor: (await run('consent', 'anchor')).out };
      },
    );
    return filled;
  };

  const assertMoved = async (folder: string, moved: CommandResult, to: string, anchor: string) => {
    assert.equal(moved.exitCode, 0, moved.notes);
    const tables = JSON.parse(moved.out) as { table: string; rows: number; source: string; target: string }[];
    assert.equal(tables.length, TABLE_NAMES.length, 'every table that there is');
    for (const { table, source, target } of tables) assert.equal(source, target, table);
    const there = { ...settings, DATABASE_URL: to };
    assert.match((await deskIn(folder, there, ['leads'])).out, /ada@example\.com +Ada Kíng ✓/);
    await succeeded(deskIn(folder, there, ['consent', 'verify', '--anchor', anchor]));
    return Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));
  };

  it('"desk move" requires an empty PostgreSQL and compares all row counts', () =>
    inFolder(async (folder) => {
      const to = await createPostgresDatabase();
      const file = path.join(folder, 'leads.db');
      const env = { ...settings, DATABASE_URL: `file:${file}` };
      const move = (...options: string[]) => deskIn(folder, env, ['move', '--to', ...options]);
      const { anchor } = await fill({ engine: 'sqlite', file }, async (_, run) => {
        await run('export', '--since-last', 'crm');
        const list = path.join(folder, 'list.csv');
        writeFileSync(list, 'email,name\ncarl@example.com,Carl\n');
        await run('import', list, '--consent-source', 'Mailchimp');
        assert.match((await move(to)).notes, /is in use\. Stop the site first/);
      });
      const rows = await assertMoved(folder, await move(to, '--json'), to, anchor);
      for (const table of ['leads', 'consent_chain', 'exported_leads', 'corrections', 'imported_leads'])
        assert.ok(Number(rows[table]) > 0, table);
      await refused(move(to), /The PostgreSQL database already contains rows in submissions, /);
    }));

  it('"desk move" from PostgreSQL requires a new file and compares all row counts', () =>
    inFolder(async (folder) => {
      const { url, anchor } = await fill({ engine: 'postgres' }, async (from) => {
        const env = { ...settings, DATABASE_URL: from };
        const busy = deskIn(folder, env, ['move', '--to', 'file:./back.db']);
        await refused(busy, /^PostgreSQL at .* is in use \(\d+ other connections?\)\. Stop the site/m);
      });
      const move = (from: string, ...options: string[]) =>
        deskIn(folder, { ...settings, DATABASE_URL: from }, ['move', '--to', ...options]);
      const moved = await move(url, 'file:./back.db', '--json');
      await assertMoved(folder, moved, 'file:./back.db', anchor);
      assert.match(moved.notes, /Set DATABASE_URL to file:\.\/back\.db/);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.startsWith('back.db')),
        ['back.db'],
      );
      for (const [from, to, sentence] of [
        [url, 'file:./back.db', /back\.db already exists\./],
        [url, await createPostgresDatabase(), /already PostgreSQL\. Use pg_dump/],
        [
          url,
          'file::memory:',
          /^A database in memory is lost when the command ends\. Name a file, such as file:\.\/data\/leads\.db\.$/,
        ],
        ['file:./back.db', 'file:./other.db', /already a file\. Use npm run -s desk -- backup to copy it\./],
      ] as const)
        assert.match((await move(from, to)).notes, sentence);
    }));
});

it('a desk command ends without an error if its reader closes the pipe', () =>
  withPeople(3, async (folder) => {
    const child = start(folder, settings, ['export', '--state', 'imported']);
    child.stdout.destroy();
    const notes = text(child.stderr);
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 0, await notes);
  }));

it('a desk command finishes its work even if standard output is full', { skip: unlessRoot }, () =>
  withPeople(0, async (folder) => {
    makeNode(path.join(folder, 'full'), 'c', '1', '7');
    const full = openSync(path.join(folder, 'full'), 'w');
    try {
      assert.deepEqual(await runProcess(folder, settings, ['export'], { out: full }), {
        code: 1,
        out: '',
        notes:
          'Standard output cannot be written: the disk is full. Free some space, or choose another place.\n',
      });
      const mute = await runProcess(folder, settings, ['export'], { notes: full });
      assert.equal(mute.code, 0);
      assert.match(mute.out, /^email,name/);
    } finally {
      closeSync(full);
    }
  }),
);

it('a desk command cleans up after one or several signals', () =>
  withPeople(0, async (folder) => {
    for (const signals of [['SIGINT', 'SIGTERM'], ['SIGHUP']] as const) {
      const child = start(folder, settings, ['open']);
      const ended = once(child, 'exit');
      await once(child.stdout, 'data');
      for (const signal of signals) child.kill(signal);
      assert.deepEqual(await ended, [0, null], signals.join(', '));
    }
  }));

it('a desk command ends at the second signal, whatever it is waiting for', () =>
  withPeople(5_000, async (folder) => {
    const writing = start(folder, settings, ['export', '--state', 'imported', '--format', 'jsonl']);
    const stopped = once(writing, 'exit');
    await once(writing.stdout, 'readable');
    writing.kill('SIGTERM');
    assert.deepEqual(await stopped, [130, null]);

    const reading = start(folder, { ...settings, SMTP_URL: 'smtp://127.0.0.1:9' }, ['bounce']);
    const ended = once(reading, 'exit');
    // Writes more than a pipe's buffer, so the command has to read.
    await new Promise((resolve) => void reading.stdin.write('x'.repeat(2 ** 20), resolve));
    reading.kill('SIGINT');
    // npm may take this long to forward the same Ctrl-C.
    await setTimeout(1_200);
    reading.kill('SIGTERM');
    assert.deepEqual(await ended, [130, null]);
  }));

it('the desk treats Ctrl-C or Ctrl-D at a question as no', { skip: noTerminal }, () =>
  withPeople(0, async (folder) => {
    for (const [key, code, last] of [
      ['\u0003', 130, /\(y\/N\)\s*(\^C)?\s*$/],
      ['\u0004', 1, /Nothing was erased\. Answer "y"/],
    ] as const) {
      const child = startOnTerminal(folder, settings, ['erase', 'ada@example.com']);
      const ended = once(child, 'exit');
      let shown = '';
      for await (const part of child.stdout) {
        if (!shown.includes('(y/N)') && `${shown}${part}`.includes('(y/N)')) child.stdin.write(key);
        shown += String(part);
      }
      assert.match(stripVTControlCharacters(shown), last);
      assert.equal((await ended)[0], code);
    }
  }),
);

it('a desk command does not create a missing database', () =>
  inFolder(async (folder) => {
    const sentence = /^There is no database at .*leads\.db yet\. Start the site once \(npm start\)/;
    await refused(deskIn(folder, {}, ['leads']), sentence);
    assert.deepEqual(readdirSync(folder), []);
    const leads = (file: string) => deskIn(folder, { DATABASE_URL: `file:./${file}` }, ['leads']);
    await refused(leads(`${'x'.repeat(300)}/leads.db`), /leads\.db cannot be read: its name is too long/);
    for (const left of ['leads.db-wal', 'app-secret']) {
      writeFileSync(path.join(folder, left), '');
      const lost = `but .*${left} exists\\. If the site is running, do not restart it yet`;
      await refused(leads('leads.db'), new RegExp(lost));
    }
  }));

it('a desk command explains invalid settings', () =>
  inFolder(async (folder) => {
    writeFileSync(path.join(folder, '.env'), 'PORT=http\n');
    await refused(deskIn(folder, {}, ['leads']), /PORT must be a whole number/);
  }));
