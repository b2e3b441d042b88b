// The production command as a process: how it starts, and how it stops.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { sql, type Selectable } from 'kysely';

import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';
import type { Config } from '#server/settings/settings.ts';
import { openDatabase } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { createLogger } from '#server/observability/logger.ts';
import { openService, readInstance } from '#server/run/service.ts';
import { portComplaints } from '#server/run/why-the-start-failed.ts';
import { API } from '#shared/api.ts';
import { inFolder } from '#testing/folder.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { behindPgBouncer, createPostgresDatabase, ENGINES } from '#testing/databases.ts';
import { environment, KEPT_COMPILED } from '#testing/environment.ts';
import { copyProject } from '#testing/project-copy.ts';
import {
  createVisitor,
  filledForm,
  TEST_SECRET,
  withServer,
  type ServerUnderTest,
} from '#testing/server-under-test.ts';
import { startSite, startSiteProcess, type Site } from '#testing/start-site.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';

const MAIN = path.resolve(import.meta.dirname, 'main.ts');
const START = path.join(PROJECT_FOLDER, 'server', 'start.js');
const REFUSED = /^The server cannot start:\n {2}- ([^\n]+)\n$/;

/** Starts the server where it cannot start; the one sentence it ends with. One process shows for each kind how it gets there. */
async function refusal(
  folder: string,
  env: Readonly<Record<string, string>>,
  command: readonly string[] = [MAIN],
): Promise<string> {
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      command,
      {
        cwd: folder,
        env: { PORT: '0', INSTANCE_FOLDER: folder, ...KEPT_COMPILED, ...env },
        timeout: 20_000,
      },
      (error, _stdout, text) => resolve({ code: error?.code ?? 0, stderr: text }),
    );
  });
  const [, sentence] = REFUSED.exec(stderr) ?? [];
  assert.equal(code, 1, stderr);
  assert.ok(sentence, `one sentence, not:\n${stderr}`);
  return sentence;
}

/** Settings and words of an instance, as a process started there would read them. */
function instanceOf(folder: string, env: Readonly<Record<string, string>>): ReturnType<typeof readInstance> {
  using _environment = environment({
    PORT: '0',
    INSTANCE_FOLDER: folder,
    CAMPAIGN_FOLDER: TEST_CAMPAIGN,
    ...env,
  });
  return readInstance();
}

/** Asks what main.ts asks before it serves, in its order, and goes again. */
async function tryStart(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ complaints: readonly string[]; warnings: readonly string[] }> {
  const instance = instanceOf(folder, env);
  if (instance.type === 'complaints') return { complaints: instance.complaints, warnings: [] };
  const ports = await portComplaints(instance.config);
  if (ports.length > 0) return { complaints: ports, warnings: [] };
  const opening = await openService(instance, {
    logger: createLogger('silent', { write: () => {} }),
    say: () => {},
    mayBeNewer: true,
  });
  if (opening.type === 'complaints') return { complaints: opening.complaints, warnings: [] };
  const { warnings, close } = opening.service;
  await close();
  return { complaints: [], warnings };
}

/** The one sentence with which a start there would end. */
async function complaint(folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { complaints } = await tryStart(folder, env);
  const [sentence = '', ...others] = complaints;
  assert.deepEqual(others, []);
  return sentence;
}

async function outboxRow(site: Site): Promise<Selectable<Schema['outbox']>> {
  const config: Config['database'] = site.databaseUrl.startsWith('file:')
    ? { engine: 'sqlite', file: path.join(site.folder, 'data', 'leads.db') }
    : { engine: 'postgres', url: site.databaseUrl };
  const { db, close } = openDatabase(config, () => {});
  try {
    return await db.selectFrom('outbox').selectAll().executeTakeFirstOrThrow();
  } finally {
    await close();
  }
}

const ask = (site: { readonly url: string }) =>
  fetch(`${site.url}/api/leads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(filledForm()),
  });

describe('the start', () => {
  it('is refused with one sentence for each bad setting, and touches nothing', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'start-'));
    try {
      const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN], {
        cwd: folder,
        env: {
          INSTANCE_FOLDER: folder,
          PORT: 'http',
          APP_SECRET: 'hunter2',
          TRUST_PROXY: 'everybody',
          ...KEPT_COMPILED,
        },
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.match(
        stderr,
        /^The server cannot start:\n {2}- PORT must be .*\n {2}- APP_SECRET must be .*\n {2}- TRUST_PROXY must be .*\n$/,
      );
      assert.doesNotMatch(stderr, /hunter2/);
      assert.equal(stdout, '');
      assert.equal(existsSync(path.join(folder, 'data')), false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('tells slips in settings and in words by file and line, all at once, before anything is built', () => {
    const copy = copyProject();
    try {
      for (const [file, slip] of [
        ['site.yaml', 'titel: A'],
        ['landing.yaml', 'heroe: B'],
      ] as const)
        writeFileSync(path.join(copy.folder, 'campaign', file), `${slip}\n`, { flag: 'a' });
      const { status, stderr } = spawnSync(process.execPath, ['server/start.js', '--check'], {
        cwd: copy.folder,
        env: { PORT: 'http', INSTANCE_FOLDER: copy.folder, NODE_DISABLE_COMPILE_CACHE: '1' },
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.match(
        stderr,
        /^The server cannot start:\n {2}- PORT must be .*\n {2}- campaign\/site\.yaml:\d+: titel: .* title\?\n {2}- campaign\/landing\.yaml:\d+: heroe: .* hero\?\n$/,
      );
      assert.equal(existsSync(path.join(copy.folder, 'dist')), false);
    } finally {
      copy.remove();
    }
  });

  it('that fails leaves one line in the log, and no word of what the database said', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'start-'));
    const file = path.join(folder, 'data', 'leads.db');
    try {
      const { db, close } = openDatabase({ engine: 'sqlite', file }, () => {});
      await sql`create table consent_wordings (version text, ada_lovelace text)`.execute(db);
      await close();
      const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN], {
        cwd: folder,
        env: { PORT: '0', INSTANCE_FOLDER: folder, ...KEPT_COMPILED },
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.equal(stderr, '');
      assert.match(stdout, /^\{"level":60,.*"code":"ERR_SQLITE_ERROR","errcode":1,.*\}\n$/);
      assert.doesNotMatch(stdout, /consent_wordings|create table|already exists/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a start that cannot succeed ends with one sentence:', { concurrency: 2 }, () => {
  it('the port is taken by another program', () =>
    inFolder(async (folder) => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const sentence = (name: string) =>
        `Port ${port} is taken by another program. Stop that one, or set ${name} to another number.`;
      assert.equal(await refusal(folder, { PORT: String(port) }), sentence('PORT'));
      assert.equal(await complaint(folder, { METRICS_PORT: String(port) }), sentence('METRICS_PORT'));
      other.close();
      assert.equal(existsSync(path.join(folder, 'data')), false, 'nothing was touched');
    }));

  it('the page is running already, and npm start says so before it builds', async () => {
    const site = await startSite();
    try {
      const env = { PORT: String(site.port), APP_SECRET: 'another-secret-'.repeat(3) };
      const sentence = `This page is running already on port ${site.port}. Stop it first (Ctrl-C where it was started), or set PORT to another number.`;
      assert.equal(await refusal(site.folder, env), sentence);
      assert.equal(await refusal(site.folder, env, [START, '--check']), sentence);
      const { db, close } = openDatabase(
        { engine: 'sqlite', file: path.join(site.folder, 'data', 'leads.db') },
        () => {},
      );
      const known = await db.selectFrom('known_secrets').selectAll().execute();
      await close();
      assert.equal(known.length, 1, 'the second one did not touch the database of the first');
    } finally {
      await site.close();
    }
  });

  it('HOST is no address of this machine', () =>
    inFolder(async (folder) =>
      assert.match(
        await complaint(folder, { HOST: '192.0.2.1' }),
        /^HOST must be an address of this machine \(EADDRNOTAVAIL\)/,
      ),
    ));

  it('the data folder cannot be made', () =>
    inFolder(async (folder) => {
      writeFileSync(path.join(folder, 'data'), 'a file');
      assert.match(
        await complaint(folder, {}),
        /^The database .+\/data\/leads\.db cannot be made or written \((ENOTDIR|EEXIST)\)\./,
      );
    }));

  it('the database is none, or damaged', () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'leads.db');
      const sentence = `${file} is no SQLite database, or is damaged. Put it back from a backup, or name another file in DATABASE_URL.`;
      writeFileSync(file, 'Dear diary, '.repeat(100));
      assert.equal(await refusal(folder, { DATABASE_URL: 'file:./leads.db' }), sentence);

      rmSync(file);
      const made = await tryStart(folder, { DATABASE_URL: `file:${file}`, APP_SECRET: TEST_SECRET });
      assert.deepEqual(made.complaints, []);
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0xa5, 100));
      assert.equal(await complaint(folder, { DATABASE_URL: 'file:./leads.db' }), sentence);

      const shared = path.join(folder, 'shared');
      mkdirSync(shared, { mode: 0o755 });
      assert.match(await complaint(folder, { DATABASE_URL: `file:${shared}` }), /is a folder\./);
      assert.equal(statSync(shared).mode & 0o777, 0o755, 'and stays as it was');
    }));

  it('the database was used by a newer version from which there is no way back', () =>
    inFolder(async (folder) => {
      assert.deepEqual((await tryStart(folder)).complaints, []);
      const { db, close } = openDatabase(
        { engine: 'sqlite', file: path.join(folder, 'data', 'leads.db') },
        () => {},
      );
      await db
        .insertInto('kysely_migration' as 'limit_windows')
        .values({ name: '2999-01-01-future-no-way-back', timestamp: new Date(0).toISOString() } as never)
        .execute();
      await close();
      assert.match(await complaint(folder, {}), /^The database was used by a newer version of this page\./);
    }));

  it('PostgreSQL is away, refuses the login, has no such database, or no TLS', () =>
    inFolder(async (folder) => {
      const url = new URL(await createPostgresDatabase());
      const refused = (change: (address: URL) => void) => {
        const address = new URL(url);
        change(address);
        return complaint(folder, { DATABASE_URL: address.href, APP_SECRET: TEST_SECRET });
      };
      const where = url.host;
      assert.match(
        await refused((address) => (address.port = '1')),
        /^PostgreSQL at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)\./,
      );
      assert.equal(
        await refused((address) => (address.password = 'wrong')),
        `PostgreSQL at ${where} refused the login. Check user and password in DATABASE_URL.`,
      );
      assert.match(
        await refused((address) => (address.pathname = '/nowhere')),
        /has no database of that name\./,
      );
      assert.match(
        await refused((address) => address.searchParams.set('sslmode', 'verify-full')),
        /offers no TLS\./,
      );
      assert.equal(
        await refused((address) => (address.search = 'sslmode=verify-full&sslrootcert=absent.pem')),
        'A file that DATABASE_URL names cannot be read (ENOENT).',
      );
    }));

  it('none of several PostgreSQL hosts can be used', { skip: behindPgBouncer() }, () =>
    inFolder(async (folder) => {
      const url = new URL(await createPostgresDatabase());
      const readOnly = new URL(url);
      readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
      const DATABASE_URL = readOnly.href.replace(url.host, `127.0.0.1:1,${url.host}`);
      assert.equal(
        await complaint(folder, { DATABASE_URL, APP_SECRET: TEST_SECRET }),
        [
          'PostgreSQL at 127.0.0.1:1 cannot be reached (ECONNREFUSED). Start it, or mend DATABASE_URL.',
          `PostgreSQL at ${url.host} takes no writes. Name the primary server in DATABASE_URL.`,
        ].join(' '),
      );
    }),
  );

  it('the DKIM key is absent, or cannot sign what receivers would accept', () =>
    inFolder(async (folder) => {
      const refused = () =>
        complaint(folder, {
          SMTP_URL: 'smtp://127.0.0.1:1',
          DKIM_DOMAIN: 'example.com',
          DKIM_SELECTOR: 'guide',
          DKIM_PRIVATE_KEY_FILE: './dkim.pem',
        });
      const file = path.join(folder, 'dkim.pem');
      assert.equal(await refused(), `DKIM_PRIVATE_KEY_FILE (${file}) cannot be read (ENOENT).`);
      const pem = { type: 'pkcs8', format: 'pem' } as const;
      for (const [key, sentence] of [
        ['garbage', /holds no private key without a passphrase in PEM\./],
        [
          generateKeyPairSync('ed25519').privateKey.export(pem),
          /must hold an RSA key of 1024 bits or more\./,
        ],
        // nodemailer would sign with it, and call the signature RSA.
        [
          generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem),
          /must hold an RSA key of 1024 bits or more\./,
        ],
        [generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey.export(pem), /of 1024 bits or more\./],
      ] as const) {
        writeFileSync(file, key);
        assert.match(await refused(), sentence);
      }
    }));

  it('the secret is empty or cut short', () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'data', 'app-secret');
      mkdirSync(path.dirname(file));
      for (const content of ['', 'short', 'x'.repeat(42), '\0'.repeat(43)]) {
        writeFileSync(file, content);
        assert.match(await complaint(folder, {}), /\/data\/app-secret is empty, cut short or no secret/);
        assert.equal(readFileSync(file, 'utf8'), content, 'and stays for whoever wants to look');
      }
    }));

  it('the database was used with a secret that is not there', () =>
    inFolder(async (folder) => {
      const secretFile = path.join(folder, 'data', 'app-secret');
      assert.deepEqual((await tryStart(folder)).complaints, []);
      rmSync(secretFile);
      const sentence = await complaint(folder, {});
      assert.ok(
        sentence.startsWith(`${secretFile} is missing, though this database was used with a secret before.`),
      );
      assert.equal(existsSync(secretFile), false, 'it is not given another one');

      // That of another instance, as after a restore on a new machine; the second start is told as the first was.
      writeFileSync(secretFile, 'y'.repeat(43));
      for (let start = 0; start < 2; start += 1)
        assert.match(
          await complaint(folder, {}),
          /\/data\/app-secret is none that this database was used with\. Put /,
        );
      rmSync(secretFile);

      // On purpose.
      const env = { APP_SECRET: TEST_SECRET };
      const first = await tryStart(folder, env);
      assert.match(first.warnings.join('\n'), /^The secret is none that this database was used with: /m);
      const second = await tryStart(folder, env);
      assert.doesNotMatch(second.warnings.join('\n'), /The secret/);
    }));

  it('a setting is misspelt, in the environment or in .env', () =>
    inFolder(async (folder) => {
      assert.equal(
        await complaint(folder, { SMPT_URL: 'smtp://mail.example.com' }),
        'SMPT_URL is no setting. Did you mean SMTP_URL?',
      );
      writeFileSync(path.join(folder, '.env'), 'DATBASE_URL=file:./other.db\nCOMPOSE_PROJECT_NAME=x\n');
      assert.equal(
        await complaint(folder, {}),
        `${folder}/.env:1: DATBASE_URL is no setting. Did you mean DATABASE_URL?`,
      );
      writeFileSync(path.join(folder, '.env'), `APP_SECRET=${'x'.repeat(40)}#${'y'.repeat(40)}\n`);
      assert.match(await complaint(folder, {}), /\.env:1: APP_SECRET is cut off at its "#"/);
    }));

  it('a package is missing, or is not the version that is wanted', () =>
    inFolder(async (folder) => {
      for (const room of ['platform', 'run'])
        mkdirSync(path.join(folder, 'server', room), { recursive: true });
      const start = path.join(folder, 'server', 'start.js');
      for (const file of ['start.js', 'platform/checked-start.js', 'platform/collect-garbage.ts'])
        copyFileSync(path.join(PROJECT_FOLDER, 'server', file), path.join(folder, 'server', file));
      writeFileSync(
        path.join(folder, 'package.json'),
        JSON.stringify({ type: 'module', dependencies: { pino: '10.4.0' } }),
      );
      assert.equal(
        await refusal(folder, {}, [start]),
        'The package pino is missing. Run "npm ci" in the folder of the project.',
      );
      mkdirSync(path.join(folder, 'node_modules', 'pino'), { recursive: true });
      const installed = path.join(folder, 'node_modules', 'pino', 'package.json');
      writeFileSync(installed, JSON.stringify({ version: '9.0.0' }));
      assert.match(
        await refusal(folder, {}, [start]),
        /^The package pino is here in version 9\.0\.0, not 10\.4\.0\./,
      );
      // A package that only a package needs.
      writeFileSync(installed, JSON.stringify({ version: '10.4.0' }));
      writeFileSync(path.join(path.dirname(installed), 'index.js'), '');
      writeFileSync(path.join(folder, 'server', 'run', 'main.ts'), `import 'thread-stream/deep';`);
      assert.match(
        await refusal(folder, {}, [start]),
        /^The package thread-stream is missing\. Run "npm ci"/,
      );
      // What only the build needs is asked for before it builds, and by nothing that runs.
      writeFileSync(
        path.join(folder, 'package.json'),
        JSON.stringify({
          type: 'module',
          dependencies: { pino: '10.4.0' },
          devDependencies: { knip: '6.42.0', vite: '8.3.8' },
          buildPackages: ['vite'],
        }),
      );
      assert.equal(
        await refusal(folder, {}, [start, '--check']),
        'The package vite is missing. Run "npm ci" in the folder of the project.',
      );
      assert.match(await refusal(folder, {}, [start]), /^The package thread-stream is missing/);
    }));

  it('the look before the build knows every package that the build imports', () => {
    const { dependencies, buildPackages } = JSON.parse(
      readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8'),
    ) as {
      dependencies: Record<string, string>;
      buildPackages: string[];
    };
    const imported = globSync('{build,web,shared}/**/*.{ts,tsx}', {
      cwd: PROJECT_FOLDER,
      exclude: ['**/*.test.*'],
    })
      .flatMap((file) =>
        Array.from(
          readFileSync(path.join(PROJECT_FOLDER, file), 'utf8').matchAll(
            /^(?:import|\}) .*?'((?:@\w[^/']*\/)?\w[^/':]*)(?=[/'])/gm,
          ),
          ([, name = '']) => name,
        ),
      )
      .filter((name) => !Object.hasOwn(dependencies, name));
    assert.deepEqual(buildPackages, [...new Set(imported)].toSorted());
  });

  it('Node is too old to read the rest', () =>
    inFolder(async (folder) => {
      const old = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })`;
      assert.equal(
        await refusal(folder, {}, ['--import', old, START]),
        'Node 20.19.0 is too old; 24.16 is needed. Use "npm start", which brings its own.',
      );
    }));
});

it('a start translates nothing that the look before it has translated', () =>
  inFolder(async (folder) => {
    const env = { NODE_COMPILE_CACHE: path.join(folder, 'compiled'), CAMPAIGN_FOLDER: TEST_CAMPAIGN };
    const { status, stderr } = spawnSync(process.execPath, [START, '--check'], {
      env: { ...env, INSTANCE_FOLDER: folder, PORT: '0' },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    // What Node has loaded of its own, told when the process ends.
    const tell = `process.on('exit', () => console.log('Loaded:' + process.moduleLoadList.join()));`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(tell)}`;
    const site = await startSiteProcess({ ...env, NODE_OPTIONS }, folder);
    assert.equal((await fetch(site.url)).status, 200);
    await site.stop('SIGINT');
    const [, loaded = ''] = /^Loaded:(.*)$/m.exec(site.output()) ?? [];
    assert.match(loaded, /NativeModule http,/);
    assert.doesNotMatch(loaded, /amaro/);
  }));

describe('an instance', () => {
  it('is the same wherever the command was typed', () =>
    inFolder(async (folder) => {
      const elsewhere = path.join(folder, 'elsewhere');
      mkdirSync(elsewhere);
      writeFileSync(path.join(folder, '.env'), 'LOG_LEVEL=warn\nSOMETHING=else\n');
      writeFileSync(path.join(elsewhere, '.env'), 'LOG_LEVEL=loud\n');
      const site = await startSiteProcess({ INSTANCE_FOLDER: folder }, elsewhere);
      await site.stop('SIGINT');
      assert.deepEqual(readdirSync(path.join(folder, 'data')).toSorted(), ['app-secret', 'leads.db', 'mail']);
      assert.deepEqual(readdirSync(elsewhere), ['.env']);
      assert.match(
        site.output(),
        /"level":40,[^}]+".+\/\.env:2: SOMETHING is no setting of this page; it is ignored\."/,
      );
      // Without INSTANCE_FOLDER it is the project's, never the folder that happens to be the current one.
      const { stderr } = spawnSync(process.execPath, [MAIN], {
        cwd: elsewhere,
        env: { PORT: 'http' },
        encoding: 'utf8',
      });
      assert.match(stderr, /PORT must be/);
      assert.doesNotMatch(stderr, /LOG_LEVEL/);
    }));

  it('keeps what is personal for its owner, whatever the umask is and whatever the modes were', () =>
    inFolder(async (folder) => {
      const data = path.join(folder, 'data');
      const mail = path.join(data, 'mail');
      const before = process.umask(0);
      let site: Awaited<ReturnType<typeof startSiteProcess>>;
      try {
        mkdirSync(mail, { recursive: true });
        for (const name of ['leads.db', 'leads.db-wal', 'mail/old.eml'])
          writeFileSync(path.join(data, name), '');
        writeFileSync(path.join(data, 'app-secret'), 'x'.repeat(43));
        site = await startSiteProcess({}, folder);
      } finally {
        process.umask(before);
      }
      const modeOf = (name: string) => (statSync(path.join(data, name)).mode & 0o777).toString(8);
      assert.equal((await ask(site)).status, 202);
      while (readdirSync(mail).length < 2) await setTimeout(10);
      for (const name of ['leads.db', 'leads.db-wal', 'leads.db-shm', 'app-secret'])
        assert.equal(modeOf(name), '600', name);
      for (const name of readdirSync(mail)) assert.equal(modeOf(path.join('mail', name)), '600', name);
      for (const name of ['.', 'mail']) assert.equal(modeOf(name), '700', name);
      await site.stop('SIGINT');
    }));

  it('leaves a folder alone that is not its own, and says who can look into it', () =>
    inFolder(async (folder) => {
      const shared = path.join(folder, 'shared');
      mkdirSync(shared, { mode: 0o755 });
      writeFileSync(path.join(folder, '.env'), 'DATABASE_URL=file:./shared/leads.db\n', { mode: 0o644 });
      const site = await startSiteProcess({}, folder);
      await site.stop('SIGINT');
      assert.equal(statSync(shared).mode & 0o777, 0o755);
      assert.equal(statSync(path.join(shared, 'leads.db')).mode & 0o777, 0o600);
      assert.match(
        site.output(),
        /"level":40,[^}]+"Other users of this machine can look into [^"]+\/shared\. /,
      );
      assert.match(
        site.output(),
        /"level":40,[^}]+"Other users of this machine can look into [^"]+\/\.env\. /,
      );
    }));

  it('writes nothing but lines of its log where nobody sits at a terminal', () =>
    inFolder(async (folder) => {
      const site = await startSiteProcess({ LOG_LEVEL: 'error' }, folder);
      const origin = { origin: site.url, 'content-type': 'application/json' };
      const form = { method: 'POST', headers: origin, body: JSON.stringify(filledForm()) };
      assert.equal((await fetch(site.url + API.leads, form)).status, 202);
      while (!site.output().includes('is your code')) await setTimeout(10);
      await site.stop('SIGTERM');
      const lines = site.output().trim().split('\n');
      const said = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
      assert.match(
        said.join('\n'),
        /^No SMTP_URL is set[\s\S]+^Ready on http[\s\S]+^Mail: \d{6} is your code/m,
      );
    }));

  it('tries its mail account, and serves the page though it cannot be used', () =>
    inFolder(async (folder) => {
      const site = await startSiteProcess({ SMTP_URL: 'smtp://127.0.0.1:1' }, folder);
      while (!site.output().includes('cannot be used')) await setTimeout(10);
      assert.match(
        site.output(),
        /"msg":"The mail server 127\.0\.0\.1:1 cannot be used \(\w+\): check host and port/,
      );
      assert.equal((await fetch(site.url)).status, 200);
      assert.equal(await site.stop('SIGINT'), 0);
    }));
});

it('a release can be gone back to: a database that a newer one has used is served, with a warning', () =>
  inFolder(async (folder) => {
    const inbox = await startInbox();
    const env = { SMTP_URL: inbox.url, MAIL_FROM: 'Guide <guide@example.com>', APP_SECRET: TEST_SECRET };
    assert.deepEqual((await tryStart(folder, env)).complaints, []);
    const file = path.join(folder, 'data', 'leads.db');
    const { db, close } = openDatabase({ engine: 'sqlite', file }, () => {});
    await sql`alter table leads add column favourite_colour text`.execute(db);
    await db
      .insertInto('kysely_migration' as 'limit_windows')
      .values({ name: '2999-01-01-future', timestamp: '2999-01-01T00:00:00.000Z' } as never)
      .execute();
    await close();
    const back = await startSiteProcess(env, folder);
    try {
      assert.match(
        back.output(),
        /"level":40,[^}]+"The database was used by a newer version of this page\. /,
      );
      assert.equal((await ask(back)).status, 202);
      assert.match(codeIn(await inbox.waitForMail('ada@example.com')), /^\d{6}$/);
    } finally {
      assert.equal(await back.stop('SIGINT'), 0);
      await inbox.close();
    }
  }));

describe('housekeeping', () => {
  it('is done soon after the start, so that a process which is often restarted keeps nothing too long', () =>
    inFolder(async (folder) => {
      const env = { APP_SECRET: TEST_SECRET, MAIL_FROM: 'a@example.com' };
      const leftOver = { key: 'left over', started_at: 0, ends_at: 1, count: 1 };
      assert.deepEqual((await tryStart(folder, env)).complaints, []);
      const { db, close } = openDatabase(
        { engine: 'sqlite', file: path.join(folder, 'data', 'leads.db') },
        () => {},
      );
      try {
        await db.insertInto('limit_windows').values(leftOver).execute();
      } finally {
        await close();
      }
      const site = await startSiteProcess(env, folder);
      try {
        const patience = AbortSignal.timeout(10_000);
        while (!site.output().includes('Housekeeping deleted'))
          await setTimeout(10, null, { signal: patience });
        assert.match(site.output(), /"expired":\{"limit_windows":1\}/);
      } finally {
        await site.stop('SIGINT');
      }
    }));
});

describe('Ctrl-C', { concurrency: true }, () => {
  /** A site with a mail in hand, which keeps a stop waiting until it is released. */
  async function busySite(): Promise<{ site: Site; release: () => void }> {
    const held = Promise.withResolvers<null>();
    const inHand = Promise.withResolvers<void>();
    const onMessage = () => {
      inHand.resolve();
      return held.promise;
    };
    const site = await startSite({ inbox: { onMessage } });
    assert.equal((await ask(site)).status, 202);
    await inHand.promise;
    return { site, release: () => held.resolve(null) };
  }

  it('reaches the server twice through npm, and still stops in order', async () => {
    const { site, release } = await busySite();
    try {
      const stopped = site.stop('SIGINT');
      while (!site.output().includes('"msg":"Stopping."')) await setTimeout(5);
      site.child.kill('SIGINT');
      release();
      assert.equal(await stopped, 0);
      assert.match(site.output(), /"msg":"Stopped\."/);
      assert.equal((await outboxRow(site)).state, 'sent');
    } finally {
      await site.close();
    }
  });

  it('ends the server at once when it is meant', async () => {
    const { site, release } = await busySite();
    try {
      const stopped = site.stop('SIGINT');
      while (!site.output().includes('"msg":"Stopping."')) await setTimeout(5);
      // Signals that wait together count once.
      while (site.child.exitCode === null && site.child.signalCode === null) {
        site.child.kill('SIGINT');
        await setTimeout(5);
      }
      assert.equal(await stopped, 130);
      assert.doesNotMatch(site.output(), /"msg":"Stopped\."/);
    } finally {
      release();
      await site.close();
    }
  });
});

for (const engine of ENGINES) {
  // Most of it is waiting, so they wait together.
  describe(`the stop on ${engine}`, { concurrency: true }, () => {
    it('finishes the mail in hand', async () => {
      let release = () => {};
      const held = new Promise<null>((resolve) => {
        release = () => resolve(null);
      });
      let arrived = () => {};
      const inHand = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const onMessage = () => {
        arrived();
        return held;
      };
      const site = await startSite({ engine, inbox: { onMessage } });
      try {
        assert.equal((await ask(site)).status, 202);
        await inHand;
        const stopped = site.stop('SIGTERM');
        while (!site.output().includes('"msg":"Stopping."')) await setTimeout(5);
        release();
        assert.equal(await stopped, 0);
        assert.equal(site.inbox.mails.length, 1);
        assert.equal((await outboxRow(site)).state, 'sent');
      } finally {
        await site.close();
      }
    });

    it('gives a mail back that does not get done, for the next process to send', async () => {
      let arrived = () => {};
      const inHand = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const onMessage = () => {
        arrived();
        return new Promise<null>(() => {});
      };
      const site = await startSite({ engine, inbox: { onMessage } });
      try {
        await ask(site);
        await inHand;
        assert.equal(await site.stop('SIGTERM'), 0);
        const row = await outboxRow(site);
        assert.equal(row.state, 'queued');
        assert.equal(row.lease_id, null);
        assert.ok(row.due_at <= Date.now());
      } finally {
        await site.close();
      }
    });
  });
}

describe('a server among rude neighbours', { concurrency: true }, () => {
  it('writes no address into the log, though the mail server repeats it', async () => {
    const onRecipient = (address: string) =>
      Object.assign(new Error(`5.1.1 <${address}>: Recipient address rejected`), { responseCode: 550 });
    const site = await startSite({ inbox: { onRecipient } });
    try {
      assert.equal((await ask(site)).status, 202);
      while (!site.output().includes('could not be delivered')) await setTimeout(10);
      assert.match(site.output(), /"type":"refused","errorClass":"5xx"/);
      assert.doesNotMatch(site.output(), /ada@example\.com/);
      assert.match((await outboxRow(site)).reply ?? '', /<ada@example\.com>: Recipient address rejected/);
    } finally {
      await site.close();
    }
  });

  it('stops in order, though somebody never ends a request', async () => {
    const site = await startSite();
    try {
      const socket = connect({ port: site.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(
        'POST /api/leads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n' +
          'expect: 100-continue\r\n\r\n',
      );
      // "100 Continue": the request has begun.
      await once(socket, 'data');
      assert.equal(await site.stop('SIGTERM'), 0);
      assert.match(site.output(), /"msg":"Stopped\."/);
    } finally {
      await site.close();
    }
  });
});

describe('a change of APP_SECRET', () => {
  it('signs nobody out and keeps the codes under way, as long as the old one stands second', () =>
    inFolder(async (folder) => {
      const [old, fresh] = ['old-secret-'.repeat(4), 'new-secret-'.repeat(4)];
      const withSecret = (appSecret: string, test: (server: ServerUnderTest) => Promise<void>) =>
        withServer(
          {
            engine: 'sqlite',
            env: { APP_SECRET: appSecret, DATABASE_URL: `file:${path.join(folder, 'leads.db')}` },
          },
          test,
        );
      /** The same browser before and after. */
      const cookies: Record<'reader' | 'waiter', ReadonlyMap<string, string>> = {
        reader: new Map(),
        waiter: new Map(),
      };
      const comeBack = (server: ServerUnderTest, who: keyof typeof cookies) => {
        const visitor = createVisitor(server);
        for (const [name, value] of cookies[who]) visitor.cookies.set(name, value);
        return visitor;
      };
      let code = '';
      await withSecret(old, async (server) => {
        const reader = createVisitor(server);
        await reader.post(API.leads, filledForm({ email: 'reader@example.com' }));
        const readersCode = codeIn(await server.inbox.waitForMail('reader@example.com'));
        await reader.post(API.verify, { email: 'reader@example.com', code: readersCode });
        assert.equal((await reader.get(API.article)).statusCode, 200);
        const waiter = createVisitor(server);
        await waiter.post(API.leads, filledForm({ email: 'waiter@example.com' }));
        code = codeIn(await server.inbox.waitForMail('waiter@example.com'));
        cookies.reader = reader.cookies;
        cookies.waiter = waiter.cookies;
      });
      await withSecret(`${fresh},${old}`, async (server) => {
        assert.equal((await comeBack(server, 'reader').get(API.article)).statusCode, 200);
        const waiter = comeBack(server, 'waiter');
        const verified = await waiter.post(API.verify, { email: 'waiter@example.com', code });
        assert.equal(verified.statusCode, 200, verified.body);
        cookies.waiter = waiter.cookies;
      });
      // Only the new one: what it signed counts, what the old one signed does not.
      await withSecret(fresh, async (server) => {
        assert.equal((await comeBack(server, 'waiter').get(API.article)).statusCode, 200);
        assert.equal((await comeBack(server, 'reader').get(API.article)).statusCode, 401);
      });
    }));
});
