import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { sql } from 'kysely';

import { openDatabase } from '#server/db/engine/connect.ts';
import { unsubscribeUrl } from '#server/secrets/mail-links.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { inFolder } from '#testing/folder.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { KEPT_COMPILED } from '#testing/environment.ts';
import { newTab } from '#testing/lead-calls.ts';
import { postJson } from '#testing/post-json.ts';
import { copyProject } from '#testing/project-copy.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { startSiteProcess } from '#testing/start-site.ts';
import { codeIn } from '#testing/inbox.ts';
import { tryStart } from '#testing/try-start.ts';
import { until } from '#testing/until.ts';

const MAIN = path.resolve(import.meta.dirname, 'main.ts');

const ask = (site: { readonly url: string }) => postJson(`${site.url}/api/leads`, filledForm());

it('a start with mistakes in the settings or the campaign is refused and changes nothing', () => {
  using copy = copyProject();
  for (const [file, mistake] of [
    ['site.yaml', 'titel: A'],
    ['landing.yaml', 'heroe: B'],
  ] as const)
    writeFileSync(path.join(copy.path, 'campaign', file), `${mistake}\n`, { flag: 'a' });
  const { status, stderr, stdout } = spawnSync(process.execPath, ['server/start.js', '--check'], {
    cwd: copy.path,
    env: {
      PORT: 'http',
      APP_SECRET: 'hunter2',
      INSTANCE_FOLDER: copy.path,
      NODE_DISABLE_COMPILE_CACHE: '1',
    },
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^The server cannot start:\n {2}- PORT must be .*\n {2}- APP_SECRET must have .*\n {2}- campaign\/site\.yaml:\d+: titel: .* title\?\n {2}- campaign\/landing\.yaml:\d+: heroe: .* hero\?\n$/,
  );
  assert.doesNotMatch(stderr, /hunter2/);
  assert.equal(stdout, '');
  for (const name of ['data', 'dist']) assert.equal(existsSync(path.join(copy.path, name)), false);
});

it("a failed start logs one line without the database's message", () =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'data', 'leads.db');
    const { db, close } = openDatabase({ engine: 'sqlite', file }, () => {});
    await sql`create table consent_wordings (version text, ada_lovelace text)`.execute(db);
    await close();
    const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN], {
      cwd: folder,
      env: { PORT: '0', INSTANCE_FOLDER: folder, CAMPAIGN_FOLDER: TEST_CAMPAIGN, ...KEPT_COMPILED },
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.equal(stderr, '');
    assert.match(stdout, /^\{"level":60,.*"code":"ERR_SQLITE_ERROR","errcode":1,.*\}\n$/);
    assert.doesNotMatch(stdout, /consent_wordings|create table|already exists/);
  }));

it('an instance has the same settings and data from any working folder', () =>
  inFolder(async (folder) => {
    const elsewhere = path.join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(folder, '.env'), 'LOG_LEVEL=warn\nSOMETHING=else\nSMTP_URL=smtp://127.0.0.1:1\n');
    writeFileSync(path.join(elsewhere, '.env'), 'LOG_LEVEL=loud\n');
    const site = await startSiteProcess({ INSTANCE_FOLDER: folder }, elsewhere);
    await until(() => site.output().includes('cannot be reached'));
    assert.equal((await fetch(site.url)).status, 200);
    assert.equal(await site.stop('SIGINT'), 0);
    assert.deepEqual(readdirSync(path.join(folder, 'data')).toSorted(), ['app-secret', 'leads.db']);
    assert.deepEqual(readdirSync(elsewhere), ['.env']);
    assert.match(
      site.output(),
      /"level":40,[^}]+".+\/\.env:2: SOMETHING is not a known setting and is ignored\. Remove the line/,
    );
    assert.match(
      site.output(),
      /"msg":"The mail server 127\.0\.0\.1:1 cannot be reached \(\w+\)\. Check host and port/,
    );
  }));

it('a start does not change a foreign folder and warns if others can read it', () =>
  inFolder(async (folder) => {
    const shared = path.join(folder, 'shared');
    mkdirSync(shared, { mode: 0o755 });
    writeFileSync(path.join(folder, '.env'), 'DATABASE_URL=file:./shared/leads.db\n');
    const { warnings } = await tryStart(folder);
    assert.equal(statSync(shared).mode & 0o777, 0o755);
    assert.equal(statSync(path.join(shared, 'leads.db')).mode & 0o777, 0o600);
    assert.match(warnings.join('\n'), /^Other users of this machine can read \S+\/shared\. /m);
  }));

it('an older release serves a newer database, does its housekeeping and writes only log lines', () =>
  inFolder(async (folder) => {
    const data = path.join(folder, 'data');
    const mail = path.join(data, 'mail');
    const env = { MAIL_FROM: 'Guide <guide@example.com>' };
    assert.deepEqual((await tryStart(folder, env)).mistakes, []);
    const { db, close } = openDatabase({ engine: 'sqlite', file: path.join(data, 'leads.db') }, () => {});
    await sql`alter table leads add column favourite_colour text`.execute(db);
    await db
      .insertInto('kysely_migration' as 'limit_windows')
      .values({ name: '2999-01-01-future', timestamp: '2999-01-01T00:00:00.000Z' } as never)
      .execute();
    await db
      .insertInto('limit_windows')
      .values({ key: 'left over', started_at: 0, ends_at: 1, count: 1 })
      .execute();
    await close();
    mkdirSync(mail, { recursive: true });
    for (const name of ['leads.db', 'leads.db-wal', 'app-secret', 'mail/old.eml']) {
      writeFileSync(path.join(data, name), '', { flag: 'a' });
      chmodSync(path.join(data, name), 0o666);
    }
    for (const name of [data, mail]) chmodSync(name, 0o777);
    const before = process.umask(0);
    const starting = startSiteProcess(env, folder);
    process.umask(before);
    const back = await starting;
    try {
      assert.match(
        back.output(),
        /"level":40,[^}]+"The database was used by a newer version of this software\. /,
      );
      assert.equal((await ask(back)).status, 202);
      await until(() => readdirSync(mail).length >= 2);
      const modeOf = (name: string) => (statSync(path.join(data, name)).mode & 0o777).toString(8);
      for (const name of ['leads.db', 'leads.db-wal', 'leads.db-shm', 'app-secret'])
        assert.equal(modeOf(name), '600', name);
      for (const name of readdirSync(mail)) assert.equal(modeOf(path.join('mail', name)), '600', name);
      for (const name of ['.', 'mail']) assert.equal(modeOf(name), '700', name);
      await until(() => back.output().includes('Housekeeping deleted'));
      assert.match(back.output(), /"expired":\{"limit_windows":1\}/);
      await until(() => back.output().includes('is your code'));
    } finally {
      assert.equal(await back.stop('SIGINT'), 0);
    }
    const lines = back.output().trim().split('\n');
    const said = lines.map((line) => (JSON.parse(line) as { msg: string }).msg).join('\n');
    assert.match(said, /^SMTP_URL is not set[\s\S]+^Ready on http[\s\S]+^Mail: \d{6} is your code/m);
  }));

it('sessions, pending codes and unsubscribe links stay valid while the old secret is listed second', () =>
  inFolder(async (folder) => {
    const [old, fresh] = ['old-secret-'.repeat(4), 'new-secret-'.repeat(4)];
    const withSecret = <Result>(appSecret: string, test: (server: ServerUnderTest) => Promise<Result>) =>
      withServer(
        {
          engine: 'sqlite',
          env: { APP_SECRET: appSecret, DATABASE_URL: `file:${path.join(folder, 'leads.db')}` },
        },
        test,
      );
    const { reader, waiter, code, link } = await withSecret(old, async (server) => {
      const lead = await becomeLead(server, 'reader@example.com');
      const asked = createVisitor(server);
      await asked.post(API.leads, filledForm({ email: 'waiter@example.com' }));
      return {
        reader: lead.visitor,
        waiter: asked,
        code: codeIn(await server.inbox.waitForMail('waiter@example.com')),
        link: unsubscribeUrl(server.service.secrets, '', lead.leadId),
      };
    });
    const verified = await withSecret(`${fresh},${old}`, async (server) => {
      assert.equal((await newTab(server, reader).get(API.article)).statusCode, 200);
      assert.equal((await server.app.inject(link)).statusCode, 200);
      const visitor = newTab(server, waiter);
      const entered = await visitor.post(API.verify, { email: 'waiter@example.com', code });
      assert.equal(entered.statusCode, 200, entered.body);
      return visitor;
    });
    await withSecret(fresh, async (server) => {
      assert.equal((await newTab(server, verified).get(API.article)).statusCode, 200);
      assert.equal((await newTab(server, reader).get(API.article)).statusCode, 401);
      assert.equal((await server.app.inject(link)).statusCode, 404);
    });
  }));
