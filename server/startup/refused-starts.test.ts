import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { inFolder } from '#testing/folder.ts';
import { createPostgresDatabase } from '#testing/databases.ts';
import { KEPT_COMPILED } from '#testing/environment.ts';
import { listening } from '#testing/listening.ts';
import { TEST_SECRET, withServer } from '#testing/server-under-test.ts';
import { tryStart } from '#testing/try-start.ts';

const MAIN = path.resolve(import.meta.dirname, 'main.ts');
const START = path.join(PROJECT_FOLDER, 'server', 'start.js');
const REFUSED = /^The server cannot start:\n {2}- ([^\n]+)\n$/;

type Env = Readonly<Record<string, string>>;

const startIn = (folder: string, env: Env, command: readonly string[]) =>
  new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      command,
      {
        cwd: folder,
        env: { PORT: '0', INSTANCE_FOLDER: folder, CAMPAIGN_FOLDER: TEST_CAMPAIGN, ...KEPT_COMPILED, ...env },
        timeout: 60_000,
      },
      (error, _stdout, stderr) => resolve({ code: error?.code ?? 0, stderr }),
    );
  });

async function refusal(folder: string, env: Env, command: readonly string[] = [MAIN]): Promise<string> {
  const { code, stderr } = await startIn(folder, env, command);
  const [, sentence] = REFUSED.exec(stderr) ?? [];
  assert.equal(code, 1, stderr);
  assert.ok(sentence, `one sentence, not:\n${stderr}`);
  return sentence;
}

/** Copies what runs before the server's own code. */
function copyStart(folder: string, dependencies = {}): { readonly start: string; readonly main: string } {
  const server = path.join(folder, 'server');
  for (const room of ['platform', 'startup']) mkdirSync(path.join(server, room), { recursive: true });
  const platform = ['checked-start.js', 'system-errors.ts'];
  for (const file of ['start.js', ...platform.map((name) => `platform/${name}`)])
    copyFileSync(path.join(PROJECT_FOLDER, 'server', file), path.join(server, file));
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
  return { start: path.join(server, 'start.js'), main: path.join(server, 'startup', 'main.ts') };
}

async function refusedStart(folder: string, env: Env): Promise<string> {
  const { mistakes } = await tryStart(folder, env);
  const [sentence = '', ...others] = mistakes;
  assert.deepEqual(others, []);
  return sentence;
}

describe('refused starts', { concurrency: 2 }, () => {
  it('a start is refused if another program uses the port', () =>
    inFolder(async (folder) => {
      await using other = await listening(createServer());
      const { port } = other;
      const sentence = (name: string) =>
        `Port ${port} is used by another program. Stop that program, or set ${name} to another number.`;
      assert.equal(await refusedStart(folder, { PORT: String(port) }), sentence('PORT'));
      assert.equal(await refusedStart(folder, { METRICS_PORT: String(port) }), sentence('METRICS_PORT'));
      assert.equal(existsSync(path.join(folder, 'data')), false, 'nothing was touched');
    }));

  it('a start is refused if the page is already running, even before npm start builds', () =>
    withServer({ engine: 'sqlite' }, ({ listen }) =>
      inFolder(async (folder) => {
        const { port } = await listen();
        const env = { PORT: port };
        const sentence = `This site is already running on port ${port}. Stop it first (with Ctrl-C where it was started), or set PORT to another number.`;
        assert.equal(await refusal(folder, env), sentence);
        assert.equal(await refusal(folder, env, [START, '--check']), sentence);
        assert.equal(
          existsSync(path.join(folder, 'data')),
          false,
          'the database of the first was not touched',
        );
      }),
    ));

  it('a start is refused if HOST is not an IP address of this machine', () =>
    inFolder(async (folder) =>
      assert.match(
        await refusedStart(folder, { HOST: '192.0.2.1' }),
        /^HOST must be an IP address of this machine \(EADDRNOTAVAIL\)/,
      ),
    ));

  it('a start is refused if the data folder cannot be created', () =>
    inFolder(async (folder) => {
      writeFileSync(path.join(folder, 'data'), 'a file');
      assert.match(
        await refusedStart(folder, {}),
        /^The database .+\/data\/leads\.db cannot be created or written \((ENOTDIR|EEXIST)\)\./,
      );
    }));

  it('a start is refused if the database file is invalid or damaged', () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'leads.db');
      const sentence = `${file} is not a SQLite database, or is damaged. Restore it from a backup, or name another file in DATABASE_URL.`;
      writeFileSync(file, 'Dear diary, '.repeat(100));
      assert.equal(await refusal(folder, { DATABASE_URL: 'file:./leads.db' }), sentence);

      rmSync(file);
      const made = await tryStart(folder, { DATABASE_URL: `file:${file}`, APP_SECRET: TEST_SECRET });
      assert.deepEqual(made.mistakes, []);
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0xa5, 100));
      assert.equal(await refusedStart(folder, { DATABASE_URL: 'file:./leads.db' }), sentence);

      const shared = path.join(folder, 'shared');
      mkdirSync(shared, { mode: 0o755 });
      assert.equal(
        await refusedStart(folder, { DATABASE_URL: `file:${shared}` }),
        `${shared} is not a regular file. Name a file in DATABASE_URL.`,
      );
      assert.equal(statSync(shared).mode & 0o777, 0o755, 'and stays as it was');
    }));

  for (const [what, change] of [
    ['is older than the first release', `update kysely_migration set name = '2026-11-20-first-tables'`],
    [
      'was migrated irreversibly by a newer version',
      `insert into kysely_migration values ('2999-01-01-future-no-way-back', '1970-01-01')`,
    ],
  ] as const)
    it(`a start is refused if the database ${what}`, () =>
      inFolder(async (folder) => {
        const file = path.join(folder, 'leads.db');
        const env = { DATABASE_URL: `file:${file}`, APP_SECRET: TEST_SECRET };
        assert.deepEqual((await tryStart(folder, env)).mistakes, []);
        {
          using database = new DatabaseSync(file);
          database.exec(change);
        }
        const before = readFileSync(file);
        assert.match(
          await refusedStart(folder, env),
          /^The database was used by another version of this software\./,
        );
        assert.deepEqual(readFileSync(file), before);
      }));

  it('a start is refused with the reason why PostgreSQL cannot be used', () =>
    inFolder(async (folder) => {
      const url = new URL(await createPostgresDatabase());
      const absent = path.join(folder, 'absent.pem');
      for (const [change, sentence] of [
        [{ port: '1' }, /^PostgreSQL at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)\./],
        [
          { password: 'wrong' },
          `PostgreSQL at ${url.host} refused the login. Check user and password in DATABASE_URL.`,
        ],
        [{ pathname: '/nowhere' }, /has no database with that name\./],
        [{ search: 'sslmode=verify-full' }, /does not offer TLS\./],
        [
          { search: 'sslmode=verify-full&sslrootcert=absent.pem' },
          `DATABASE_URL names the file ${absent}, which cannot be read (ENOENT). Put the file there, or correct DATABASE_URL.`,
        ],
        [
          { search: 'options=-c nosuch=1' },
          / refused to work \(.+\)\. Correct this there or in DATABASE_URL, and try again\.$/,
        ],
        [
          { search: 'options=-c default_transaction_read_only=on' },
          `PostgreSQL at ${url.host} is read-only. Name the primary server in DATABASE_URL.`,
        ],
      ] as const) {
        const address = new URL(url);
        Object.assign(address, change);
        const refused = await refusedStart(folder, { DATABASE_URL: address.href, APP_SECRET: TEST_SECRET });
        if (typeof sentence === 'string') assert.equal(refused, sentence);
        else assert.match(refused, sentence);
      }
    }));

  it('a start is refused if the DKIM key is missing or too weak for receivers', () =>
    inFolder(async (folder) => {
      const refused = () =>
        refusedStart(folder, {
          SMTP_URL: 'smtp://127.0.0.1:1',
          DKIM_DOMAIN: 'example.com',
          DKIM_SELECTOR: 'guide',
          DKIM_PRIVATE_KEY_FILE: './dkim.pem',
        });
      const file = path.join(folder, 'dkim.pem');
      assert.equal(
        await refused(),
        `DKIM_PRIVATE_KEY_FILE (${file}) cannot be read (ENOENT). Correct the path, or grant this user read permission.`,
      );
      const pem = { type: 'pkcs8', format: 'pem' } as const;
      for (const [key, sentence] of [
        ['garbage', /does not contain a private key in PEM format without a passphrase\./],
        // nodemailer would sign with this key, but label the signature as RSA.
        [
          generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem),
          /must contain an RSA key of at least 1024 bits\./,
        ],
        [
          generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey.export(pem),
          /of at least 1024 bits\./,
        ],
      ] as const) {
        writeFileSync(file, key);
        assert.match(await refused(), sentence);
      }
      assert.equal(existsSync(path.join(folder, 'data')), false, 'nothing was touched');
    }));

  it('a start is refused if the secret file is empty or truncated', () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'data', 'app-secret');
      mkdirSync(path.dirname(file));
      for (const content of ['', 'x'.repeat(42), `${'x'.repeat(30)} ${'x'.repeat(30)}`, '\0'.repeat(43)]) {
        writeFileSync(file, content);
        assert.match(
          await refusedStart(folder, {}),
          /\/data\/app-secret is empty, truncated or not a secret/,
        );
        assert.equal(readFileSync(file, 'utf8'), content, 'and stays as it was');
      }
    }));

  it('a start is refused if the secret used by the database is missing', () =>
    inFolder(async (folder) => {
      const secretFile = path.join(folder, 'data', 'app-secret');
      assert.deepEqual((await tryStart(folder)).mistakes, []);
      rmSync(secretFile);
      const sentence = await refusedStart(folder, {});
      assert.ok(
        sentence.startsWith(
          `${secretFile} is missing, but this database has already been used with a secret.`,
        ),
      );
      assert.equal(existsSync(secretFile), false, 'it is not given another one');

      // After a restore, the secret may be another instance's. A second start must be refused too.
      writeFileSync(secretFile, 'y'.repeat(43));
      for (let start = 0; start < 2; start += 1)
        assert.match(
          await refusedStart(folder, {}),
          /\/data\/app-secret does not match any secret that this database was used with\. Restore /,
        );
      rmSync(secretFile);

      const env = { APP_SECRET: TEST_SECRET };
      const first = await tryStart(folder, env);
      assert.match(
        first.warnings.join('\n'),
        /^This database was used with a different secret\. .* links in sent e-mails stop working/m,
      );
      const second = await tryStart(folder, env);
      assert.doesNotMatch(second.warnings.join('\n'), /The secret/);
    }));

  it('a start is refused if a package is missing or has the wrong version', () =>
    inFolder(async (folder) => {
      const { start } = copyStart(folder, { pino: '10.4.0' });
      assert.equal(
        await refusal(folder, {}, [start]),
        'The package pino is missing. Run "npm ci" in the project folder.',
      );
      mkdirSync(path.join(folder, 'node_modules', 'pino'), { recursive: true });
      const installed = path.join(folder, 'node_modules', 'pino', 'package.json');
      writeFileSync(installed, JSON.stringify({ version: '9.0.0' }));
      assert.match(
        await refusal(folder, {}, [start]),
        /^The package pino is installed in version 9\.0\.0 instead of 10\.4\.0\./,
      );
    }));

  it('a start that fails for an unknown reason asks the operator to report a bug', () =>
    inFolder(async (folder) => {
      const { start, main } = copyStart(folder);
      writeFileSync(main, `throw new TypeError('nobody foresaw this');`);
      assert.match(
        (await startIn(folder, {}, [start])).stderr,
        /^The server cannot start:\n {2}- This is a bug in the software\. Please report it .+:\nTypeError: nobody foresaw this\n {4}at .+main\.ts:1/,
      );
    }));

  it('a start is refused if Node is too old', () =>
    inFolder(async (folder) => {
      const old = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })`;
      assert.equal(
        await refusal(folder, {}, ['--import', old, START]),
        'Node 20.19.0 is too old. Version 24.16 is needed. Use "npm start", which runs the required version.',
      );
    }));
});
