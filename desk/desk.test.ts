// The desk beside a live server, with its own files and databases. What a process does (pipes, colours, exit codes) is tried on
// processes; the commands run in this one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

import { TABLE_NAMES } from '#server/db/all-tables.ts';
import { openDatabase } from '#server/db/engine/connect.ts';
import { KEPT_COMPILED } from '#testing/environment.ts';
import { inFolder } from '#testing/folder.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { createPostgresDatabase, ENGINES } from '#testing/databases.ts';
import { deskIn } from '#testing/desk.ts';
import { codeIn } from '#testing/inbox.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { filledForm, TEST_SECRET } from '#testing/server-under-test.ts';
import { siteSettings, startSite, type Site } from '#testing/start-site.ts';

const DESK = path.resolve(import.meta.dirname, 'desk.ts');

const environmentIn = (folder: string) => ({
  PATH: process.env['PATH'],
  INSTANCE_FOLDER: folder,
  CAMPAIGN_FOLDER: TEST_CAMPAIGN,
  ...KEPT_COMPILED,
});

const start = (folder: string, env: Readonly<Record<string, string>>, args: readonly string[]) =>
  spawn(process.execPath, [DESK, ...args], { env: { ...environmentIn(folder), ...env }, cwd: folder });

/** As a process. */
async function runProcess(folder: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const child = start(folder, env, args);
  child.stdin.end();
  const [out, notes, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, out, notes };
}

const script = findProgram('script');
const noTerminal = script === undefined && notTested('script');

/** As a process on a terminal. */
function startOnTerminal(folder: string, env: Readonly<Record<string, string>>, args: readonly string[]) {
  const command = [process.execPath, DESK, ...args].map((part) => `'${part}'`).join(' ');
  return spawn(script ?? '', ['-qec', command, '/dev/null'], {
    env: { ...environmentIn(folder), ...env },
    cwd: folder,
  });
}

/** Everything that a command shows on a terminal. */
async function runOnTerminal(
  folder: string,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<string> {
  const child = startOnTerminal(folder, env, args);
  child.stdin.end();
  return text(child.stdout);
}

/** In this process. */
async function run(folder: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { exitCode, ...said } = await deskIn(folder, env, args);
  return { code: exitCode, ...said };
}

/** Walks the whole flow over HTTP. */
async function becomeLead({ url, inbox }: Site, email: string): Promise<void> {
  const post = (address: string, body: unknown) =>
    fetch(`${url}${address}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  assert.equal((await post('/api/leads', filledForm({ email }))).status, 202);
  const code = codeIn(await inbox.waitForMail(email));
  assert.equal((await post('/api/verify', { email, code })).status, 200);
}

for (const engine of ENGINES) {
  it(`the desk works beside a live server on ${engine}, and prints data and nothing else`, async () => {
    const site = await startSite({ engine });
    const env = siteSettings(site.databaseUrl, site.inbox);
    try {
      await becomeLead(site, 'ada@example.com');
      const listed = await runProcess(site.folder, env, 'leads', '--json');
      assert.equal(listed.code, 0, listed.notes);
      assert.deepEqual(
        (JSON.parse(listed.out) as { email: string }[]).map(({ email }) => email),
        ['ada@example.com'],
      );
      // A pipe is one whatever the engine.
      if (engine === 'sqlite') {
        const bold = '\u001B[1m';
        const plain = await runProcess(site.folder, env, 'leads');
        const coloured = await runProcess(site.folder, { ...env, FORCE_COLOR: '1' }, 'leads');
        assert(!plain.out.includes(bold), 'a pipe is no terminal');
        assert(coloured.out.startsWith(`${bold}first verified`), coloured.out);
        const json = await runProcess(site.folder, { ...env, FORCE_COLOR: '1' }, 'leads', '--json');
        assert.equal(json.out, listed.out, 'data has no colours');
      }
      const erased = await runProcess(site.folder, env, 'erase', 'ada@example.com');
      assert.equal(erased.code, 1, 'nobody was there to say yes');
      // The server has noticed nothing.
      await becomeLead(site, 'eve@example.com');
      // Its files are rewritten while visitors send their forms.
      const walking = ['bob', 'cay', 'dan'].map((name) => becomeLead(site, `${name}@example.com`));
      const gone = await runProcess(site.folder, env, 'erase', 'ada@example.com', '--yes');
      assert.equal(gone.code, 0, gone.notes);
      await Promise.all(walking);
      await becomeLead(site, 'fay@example.com');
      if (engine === 'sqlite')
        for (const name of ['leads.db', 'leads.db-wal'])
          assert.ok(!readFileSync(path.join(site.folder, 'data', name)).includes('ada@example.com'), name);
    } finally {
      await site.close();
    }
  });
}

describe('the desk', () => {
  it('copies the database of a live server, and the copy is one whole file', async () => {
    const site = await startSite({ engine: 'sqlite' });
    const env = siteSettings(site.databaseUrl, site.inbox);
    try {
      await becomeLead(site, 'ada@example.com');
      writeFileSync(path.join(site.folder, 'list.csv'), 'email,name\nbob@example.com,Bob\n');
      await run(site.folder, env, 'import', 'list.csv', '--consent-source', 'Mailchimp');
      const copy = path.join(site.folder, 'copy.db');
      const { code, notes } = await run(site.folder, env, 'backup', copy);
      assert.equal(code, 0, notes);
      assert.match(notes, /copy\.db holds the database with 1 lead and 1 imported person\./);
      assert.deepEqual(
        readdirSync(site.folder).filter((name) => name.startsWith('copy')),
        ['copy.db'],
      );
      const { db, close } = openDatabase({ engine: 'sqlite', file: copy }, () => {});
      const { email } = await db.selectFrom('leads').select('email').executeTakeFirstOrThrow();
      await close();
      assert.equal(email, 'ada@example.com');
    } finally {
      await site.close();
    }
  });

  it('puts a backup back, never under a running page, and keeps what was there', async () => {
    const site = await startSite({ engine: 'sqlite' });
    const env = siteSettings(site.databaseUrl, site.inbox);
    const emails = async () =>
      (JSON.parse((await run(site.folder, env, 'leads', '--json')).out) as { email: string }[]).map(
        ({ email }) => email,
      );
    try {
      await becomeLead(site, 'ada@example.com');
      await run(site.folder, env, 'backup', 'copy.db');
      await becomeLead(site, 'eve@example.com');
      const running = await run(site.folder, env, 'restore', 'copy.db');
      assert.equal(running.code, 1);
      assert.match(running.notes, /leads\.db is in use\. Stop the page first; nothing was changed\./);
      assert.deepEqual(await emails(), ['ada@example.com', 'eve@example.com']);
      await site.stop('SIGINT');

      writeFileSync(
        path.join(site.folder, 'words.db'),
        'These are no leads, and there is no table in them.\n'.repeat(99),
      );
      for (const [file, sentence] of [
        ['words.db', /words\.db is no SQLite database\. Name a file that "backup" wrote\./],
        ['missing.db', /missing\.db does not exist\./],
      ] as const) {
        const unfit = await run(site.folder, env, 'restore', file);
        assert.equal(unfit.code, 1);
        assert.match(unfit.notes, sentence);
      }
      assert.deepEqual(await emails(), ['ada@example.com', 'eve@example.com']);

      // What a backup is for. A log of the old file must not be played into the new one.
      const live = path.join(site.folder, 'data', 'leads.db');
      const old = readFileSync(live);
      writeFileSync(live, 'These are no leads any more. '.repeat(999));
      writeFileSync(`${live}-wal`, 'A log of something else.');
      const rescued = await run(site.folder, env, 'restore', 'copy.db');
      assert.equal(rescued.code, 0, rescued.notes);
      assert.deepEqual(await emails(), ['ada@example.com']);
      writeFileSync(live, old);

      const restored = await run(site.folder, env, 'restore', 'copy.db');
      assert.equal(restored.code, 0, restored.notes);
      assert.match(restored.notes, /leads\.db is now copy\.db, with 1 lead\./);
      const [, kept = ''] = /is kept as (.*)\.$/m.exec(restored.notes) ?? [];
      assert.deepEqual(await emails(), ['ada@example.com']);
      const before = await run(site.folder, { ...env, DATABASE_URL: `file:${kept}` }, 'leads', '--json');
      assert.match(before.out, /eve@example\.com/);
    } finally {
      await site.close();
    }
  });

  it('moves everything to an empty PostgreSQL, counted and compared, and to no other', async () => {
    const site = await startSite({ engine: 'sqlite' });
    const env = siteSettings(site.databaseUrl, site.inbox);
    const to = await createPostgresDatabase();
    try {
      await becomeLead(site, 'ada@example.com');
      await run(site.folder, env, 'export', '--since-last', 'crm');
      await run(site.folder, env, 'correct', 'ada@example.com', '--name', 'Ada Kíng ✓');
      await run(site.folder, env, 'consent', 'anchor');
      writeFileSync(path.join(site.folder, 'list.csv'), 'email,name\nbob@example.com,Bob\n');
      const imported = await run(site.folder, env, 'import', 'list.csv', '--consent-source', 'Mailchimp');
      assert.equal(imported.code, 0, imported.notes);
      assert.match(
        (await run(site.folder, env, 'move', '--to', to)).notes,
        /is in use\. Stop the page first/,
      );
      const { out: anchor } = await run(site.folder, env, 'consent', 'anchor');
      await site.stop('SIGINT');
      const moved = await run(site.folder, env, 'move', '--to', to, '--json');
      assert.equal(moved.code, 0, moved.notes);
      const tables = JSON.parse(moved.out) as {
        table: string;
        rows: number;
        source: string;
        target: string;
      }[];
      assert.equal(tables.length, TABLE_NAMES.length, 'every table that there is');
      for (const { table, source, target } of tables) assert.equal(source, target, table);
      const rows = Object.fromEntries(tables.map(({ table, rows: count }) => [table, count]));
      assert.deepEqual(
        [
          rows['leads'],
          rows['consent_chain'],
          rows['exported_leads'],
          rows['corrections'],
          rows['imported_leads'],
        ],
        [1, 1, 1, 1, 1],
      );

      const there = { ...env, DATABASE_URL: to };
      assert.match((await run(site.folder, there, 'leads')).out, /ada@example\.com +Ada Kíng ✓/);
      const verified = await run(site.folder, there, 'consent', 'verify', '--anchor', anchor);
      assert.equal(verified.code, 0, verified.notes);
      const again = await run(site.folder, env, 'move', '--to', to);
      assert.equal(again.code, 1);
      assert.match(again.notes, /The PostgreSQL is not empty: there are rows in challenges, /);
      const nowhere = await run(site.folder, env, 'move', '--to', 'postgres://127.0.0.1:9/leads');
      assert.equal(nowhere.code, 1);
      assert.match(nowhere.notes, /\S/);
      assert.doesNotMatch(nowhere.notes, /at .*\.ts/);
    } finally {
      await site.close();
    }
  });

  it('moves everything from PostgreSQL back to a file, counted and compared, and to no file that is there', async () => {
    const site = await startSite({ engine: 'postgres' });
    const env = siteSettings(site.databaseUrl, site.inbox);
    const move = (to: string, ...options: string[]) => run(site.folder, env, 'move', '--to', to, ...options);
    try {
      await becomeLead(site, 'ada@example.com');
      await run(site.folder, env, 'correct', 'ada@example.com', '--name', 'Ada Kíng ✓');
      const busy = await move('file:./back.db');
      assert.equal(busy.code, 1);
      assert.match(busy.notes, /^PostgreSQL at .* is in use \(\d+ other connections?\)\. Stop the page/m);
      const { out: anchor } = await run(site.folder, env, 'consent', 'anchor');
      await site.stop('SIGINT');

      const moved = await move('file:./back.db', '--json');
      assert.equal(moved.code, 0, moved.notes);
      const tables = JSON.parse(moved.out) as { table: string; source: string; target: string }[];
      assert.equal(tables.length, TABLE_NAMES.length, 'every table that there is');
      for (const { table, source, target } of tables) assert.equal(source, target, table);
      assert.match(moved.notes, /Set DATABASE_URL to file:\.\/back\.db/);
      assert.deepEqual(
        readdirSync(site.folder).filter((name) => name.startsWith('back.db')),
        ['back.db'],
      );

      const there = { ...env, DATABASE_URL: 'file:./back.db' };
      assert.match((await run(site.folder, there, 'leads')).out, /ada@example\.com +Ada Kíng ✓/);
      const verified = await run(site.folder, there, 'consent', 'verify', '--anchor', anchor);
      assert.equal(verified.code, 0, verified.notes);

      assert.match((await move('file:./back.db')).notes, /back\.db exists already\./);
      assert.match((await move(await createPostgresDatabase())).notes, /PostgreSQL already\. pg_dump/);
      assert.equal(
        (await move('file::memory:')).notes.trim(),
        'A database in memory ends with the command. Name a file, such as file:./data/leads.db.',
      );
      const fromFile = await run(site.folder, there, 'move', '--to', 'file:./other.db');
      assert.match(fromFile.notes, /a file already\. npm run -s desk -- backup copies it\./);
    } finally {
      await site.close();
    }
  });

  it('says for PostgreSQL what copies it, without the password', () =>
    inFolder(async (folder) => {
      const databaseUrl = await createPostgresDatabase();
      const settings = { DATABASE_URL: databaseUrl, APP_SECRET: TEST_SECRET };
      const { code, notes } = await run(folder, settings, 'backup', 'leads.dump');
      assert.equal(code, 1);
      const { password } = new URL(databaseUrl);
      assert.match(notes, /pg_dump --format=custom --file='leads\.dump' 'postgres/);
      assert(password === '' || !notes.includes(password));
      // What only this page understands is not in it, nor is a second password.
      const other = new URL(databaseUrl);
      other.search = `password=${password}&sslmode=disable&prepare=false&application_name=the+page`;
      const said = await run(folder, { ...settings, DATABASE_URL: other.href }, 'backup', 'leads.dump');
      assert.equal(
        said.notes.split("'")[3],
        `postgres://postgres@${other.host}${other.pathname}?sslmode=disable&application_name=the%20page`,
      );
    }));

  it('ends without an error when its reader closes the pipe', async () => {
    const site = await startSite({ engine: 'sqlite' });
    try {
      for (let n = 0; n < 3; n += 1) await becomeLead(site, `reader${n}@example.com`);
      const child = start(site.folder, siteSettings(site.databaseUrl, site.inbox), ['export']);
      child.stdout.destroy();
      const notes = text(child.stderr);
      const [code] = (await once(child, 'exit')) as [number];
      assert.equal(code, 0, await notes);
    } finally {
      await site.close();
    }
  });

  it('ends in order when it is stopped, by one signal or by several', async () => {
    const site = await startSite({ engine: 'sqlite' });
    try {
      for (const signals of [['SIGINT', 'SIGTERM'], ['SIGTERM'], ['SIGHUP', 'SIGINT']] as const) {
        const child = start(site.folder, siteSettings(site.databaseUrl, site.inbox), ['open']);
        const ended = once(child, 'exit');
        await once(child.stdout, 'data');
        for (const signal of signals) child.kill(signal);
        assert.deepEqual(await ended, [0, null], signals.join(', '));
      }
    } finally {
      await site.close();
    }
  });

  it('ends at the first signal when nobody reads what it writes, and at a later one of any kind whatever it waits for', () =>
    inFolder(async (folder) => {
      const env = {
        DATABASE_URL: 'file:./leads.db',
        APP_SECRET: TEST_SECRET,
        SMTP_URL: 'smtp://127.0.0.1:9',
      };
      writeFileSync(path.join(folder, 'leads.db'), '');
      const people = Array.from({ length: 5_000 }, (_, at) => `p${at}@example.com`);
      writeFileSync(path.join(folder, 'list.csv'), ['email', ...people].join('\n'));
      const imported = await run(folder, env, 'import', 'list.csv', '--consent-source', 'a fair');
      assert.equal(imported.code, 0, imported.notes);

      const writing = start(folder, env, ['export', '--state', 'imported', '--format', 'jsonl']);
      const stopped = once(writing, 'exit');
      await once(writing.stdout, 'readable');
      writing.kill('SIGTERM');
      assert.deepEqual(await stopped, [130, null]);

      const reading = start(folder, env, ['bounce']);
      const ended = once(reading, 'exit');
      // More than a pipe holds: it reads, and waits for the end.
      await new Promise((resolve) => void reading.stdin.write('x'.repeat(2 ** 20), resolve));
      reading.kill('SIGINT');
      // As long as npm may take to pass on the same Ctrl-C.
      await setTimeout(1_200);
      reading.kill('SIGTERM');
      assert.deepEqual(await ended, [130, null]);
    }));

  it('takes Ctrl-C and Ctrl-D at a question for a no', { skip: noTerminal }, async () => {
    const site = await startSite({ engine: 'sqlite' });
    try {
      await becomeLead(site, 'ada@example.com');
      for (const [key, code, last] of [
        ['\u0003', 130, /\(y\/N\)\s*(\^C)?\s*$/],
        ['\u0004', 1, /Nothing was erased\. Say "y"/],
      ] as const) {
        const child = startOnTerminal(site.folder, siteSettings(site.databaseUrl, site.inbox), [
          'erase',
          'ada@example.com',
        ]);
        const ended = once(child, 'exit');
        let shown = '';
        for await (const part of child.stdout) {
          if (!shown.includes('(y/N)') && `${shown}${part}`.includes('(y/N)')) child.stdin.write(key);
          shown += String(part);
        }
        assert.match(stripVTControlCharacters(shown), last);
        assert.equal((await ended)[0], code);
      }
    } finally {
      await site.close();
    }
  });

  it('makes no database where there is none', () =>
    inFolder(async (folder) => {
      const { code, out, notes } = await run(folder, {}, 'leads');
      assert.deepEqual([code, out], [1, '']);
      assert.match(notes, /^There is no database at .*leads\.db yet\. Start the page once \(npm start\)/);
      assert.deepEqual(readdirSync(folder), []);
    }));

  it(
    'says first on a terminal of which instance it speaks, and never in data, help or a pipe',
    { skip: noTerminal },
    async () => {
      const site = await startSite({ engine: 'sqlite' });
      const env = {
        ...siteSettings(site.databaseUrl, site.inbox),
        PUBLIC_URL: 'https://example.com/guide',
        NO_COLOR: '1',
      };
      try {
        await becomeLead(site, 'ada@example.com');
        const line = `https://example.com/guide, with settings and data in ${site.folder}`;
        const [first, ...rest] = (await runOnTerminal(site.folder, env, 'leads')).split('\r\n');
        assert.equal(first, line);
        assert.match(rest.join('\n'), /ada@example\.com/);
        const json = await runOnTerminal(site.folder, env, 'leads', '--json');
        assert.match(json, /^\[/);
        assert.doesNotMatch(json, /settings and data in/);
        assert.doesNotMatch(await runOnTerminal(site.folder, env, 'leads', '--help'), /settings and data in/);
        const piped = await runProcess(site.folder, env, 'leads');
        assert.doesNotMatch(piped.out + piped.notes, /settings and data in/);
        const wrong = await runOnTerminal(site.folder, { ...env, PORT: 'none' }, 'leads');
        assert.match(wrong, /^PORT must be/);
      } finally {
        await site.close();
      }
    },
  );

  it('says what is wrong with the settings', () =>
    inFolder(async (folder) => {
      writeFileSync(path.join(folder, '.env'), 'PORT=http\n');
      const { code, notes } = await runProcess(folder, {}, 'leads');
      assert.equal(code, 1);
      assert.match(notes, /PORT must be a whole number/);
    }));

  it('helps, with examples, for each command', () =>
    inFolder(async (folder) => {
      const { code, out, notes } = await runProcess(folder, {}, '--help');
      assert.deepEqual([code, notes], [0, '']);
      const commands = [...out.matchAll(/^ {2}([a-z]+) (?:\[options\] )?.* {2,}/gm)].map(([, name]) => name!);
      assert(commands.length >= 8, out);
      for (const command of commands.filter((name) => name !== 'help')) {
        const help = await run(folder, {}, command, '--help');
        assert.equal(help.code, 0);
        assert.match(help.out, /Examples?:\n {2}\$ npm run -s desk -- /, command);
      }
    }));
});
