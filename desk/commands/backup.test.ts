import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';

import { wordFiles } from '#desk/commands/instance-files.ts';
import { unsubscribeUrl } from '#server/secrets/mail-links.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { adding, copyCampaign } from '#testing/campaign-copy.ts';
import { createPostgresDatabase, ENGINES, type Engine } from '#testing/databases.ts';
import { type CommandResult, deskIn, refused, succeeded } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { onPostgres } from '#testing/postgres-server.ts';
import { createVisitor, TEST_SECRET, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

const HEADLINE = '\n## Our own words\n\nThese are ours.\n';

type Machine = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly run: (...args: string[]) => Promise<CommandResult>;
};

async function machineIn(folder: string, engine: Engine): Promise<Machine> {
  mkdirSync(folder, { recursive: true });
  const databaseUrl = engine === 'sqlite' ? `file:${folder}/data/leads.db` : await createPostgresDatabase();
  const env = { DATABASE_URL: databaseUrl, CAMPAIGN_FOLDER: path.join(folder, 'campaign') };
  return { folder, databaseUrl, run: (...args) => deskIn(folder, env, args) };
}

/** With PostgreSQL, APP_SECRET is in .env; with SQLite, the server creates a file. */
function setUp({ folder }: Machine, engine: Engine): void {
  copyCampaign(folder, { 'article/article.md': adding(HEADLINE) });
  writeFileSync(
    path.join(folder, '.env'),
    `PORT=4321\nCAMPAIGN_FOLDER=elsewhere\n${engine === 'sqlite' ? '' : `APP_SECRET=${TEST_SECRET}\n`}`,
  );
}

const withSite = (
  { databaseUrl }: Machine,
  engine: Engine,
  test: (server: ServerUnderTest) => Promise<void>,
): Promise<void> =>
  withServer(
    { engine, env: { DATABASE_URL: databaseUrl, APP_SECRET: engine === 'sqlite' ? '' : TEST_SECRET } },
    test,
  );

for (const engine of ENGINES)
  it(`a backup on ${engine} restores sessions, links, receipts, settings and words on an empty machine`, () =>
    inFolder(async (folder) => {
      const old = await machineIn(path.join(folder, 'old'), engine);
      const fresh = await machineIn(path.join(folder, 'fresh'), engine);
      const backup = path.join(folder, 'all.backup');
      setUp(old, engine);
      const lead = { cookies: new Map<string, string>(), unsubscribe: '', anchor: '' };
      await withSite(old, engine, async (server) => {
        const { visitor, leadId } = await becomeLead(server, 'ada@example.com');
        lead.cookies = visitor.cookies;
        lead.unsubscribe = unsubscribeUrl(server.service.secrets, '', leadId);
        await server.advance(61);
        lead.anchor = (await old.run('consent', 'anchor')).out;
        const done = await succeeded(old.run('backup', backup));
        assert.match(
          done.notes,
          /all\.backup contains the database with 1 lead, the settings, the secrets and the words\.\nIt contains secrets: .+ \(mode 600\)/,
        );
      });
      assert.equal(statSync(backup).mode & 0o777, 0o600);
      assert.deepEqual(readdirSync(folder).toSorted(), ['all.backup', 'fresh', 'old']);

      await succeeded(fresh.run('restore', backup));
      const inside = (name: string) => path.join(fresh.folder, name);
      assert.match(readFileSync(inside('.env'), 'utf8'), /^PORT=4321\n# CAMPAIGN_FOLDER=elsewhere\n/);
      assert.equal(statSync(inside('.env')).mode & 0o777, 0o600);
      assert(readFileSync(inside('campaign/article/article.md'), 'utf8').endsWith(HEADLINE));
      const count = (machine: Machine) => globSync('campaign/**', { cwd: machine.folder }).length;
      assert.equal(count(fresh), count(old));
      const left = globSync('**/{*.part,restored.db}*', { cwd: fresh.folder });
      assert.deepEqual(left, []);
      if (engine === 'sqlite') {
        assert.equal(statSync(inside('data/app-secret')).mode & 0o777, 0o600);
        const secret = readFileSync(inside('data/app-secret'), 'utf8');
        assert(!readFileSync(inside('data/leads.db')).includes(secret), 'the live database has no secret');
      }

      await succeeded(fresh.run('consent', 'verify', '--anchor', lead.anchor.trim()));
      await withSite(fresh, engine, async (server) => {
        const visitor = createVisitor(server);
        for (const [name, value] of lead.cookies) visitor.cookies.set(name, value);
        assert.equal((await visitor.get(API.article)).statusCode, 200);
        const pressed = await visitor.post(lead.unsubscribe, 'List-Unsubscribe=One-Click', {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        });
        assert.match(pressed.body, /You are unsubscribed/);
      });
    }));

it('a backup of PostgreSQL names the table whose index does not find all rows', () =>
  inFolder(async (folder) => {
    const machine = await machineIn(folder, 'postgres');
    setUp(machine, 'postgres');
    await withSite(machine, 'postgres', () => Promise.resolve());
    await onPostgres(machine.databaseUrl, (client) =>
      client.query(`
        alter table mail_domains rename to all_domains;
        create view mail_domains as select * from all_domains where current_query() like '%count(*)%';
        insert into all_domains values ('example.com', null, 0)`),
    );
    const backup = path.join(folder, 'all.backup');
    await refused(
      machine.run('backup', backup),
      'The rows of mail_domains differ after copying, so the copy was discarded. Make sure that no other program writes to either database. If the operating system of a PostgreSQL server was upgraded, rebuild its indexes (reindex database). Then try again.',
    );
    assert(!existsSync(backup));
  }));

const inMachine = (test: (machine: Machine, backup: string) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    const machine = await machineIn(path.join(folder, 'site'), 'sqlite');
    setUp(machine, 'sqlite');
    await openTestService(machine.folder, {}).then(({ close }) => close());
    const backup = path.join(folder, 'all.backup');
    await succeeded(machine.run('backup', backup));
    await test(machine, backup);
  });

const textsIn = (folder: string): string[] =>
  ['.env', 'data/app-secret', 'campaign/site.yaml'].map((name) =>
    readFileSync(path.join(folder, name), 'utf8'),
  );

const STRAY = 'campaign/../../stray';

it('a restore replaces a database, settings and words only with --replace, and keeps the previous ones', () =>
  inMachine(async ({ folder, run }, backup) => {
    const site = path.join(folder, 'campaign/site.yaml');
    const before = textsIn(folder);
    appendFileSync(site, '# newer\n');
    appendFileSync(path.join(folder, '.env'), 'LOG_LEVEL=warn\n');
    chmodSync(path.join(folder, '.env'), 0o644);
    const changed = textsIn(folder);
    await refused(
      run('restore', backup),
      `Nothing was changed, because ${folder}/.env, ${folder}/campaign, ${folder}/data/leads.db already exist. To replace and keep the previous version next to it, add --replace. To restore one part, add --only database, --only settings or --only words.`,
    );
    assert.deepEqual(textsIn(folder), changed);
    await succeeded(run('restore', backup, '--only', 'words', '--replace'));
    assert.deepEqual(textsIn(folder), [changed[0], changed[1], before[2]]);
    await succeeded(run('restore', backup, '--replace'));
    // The environment's settings are lines of .env now.
    assert.match(readFileSync(path.join(folder, '.env'), 'utf8'), /^PORT=4321\n# CAMPAIGN_FOLDER/);
    const [kept] = globSync('campaign.before-*', { cwd: folder });
    assert.match(readFileSync(path.join(folder, kept ?? '', 'site.yaml'), 'utf8'), /# newer/);
    const files = globSync('{.env,data/leads.db}.before-*', { cwd: folder });
    assert.deepEqual(
      files.map((name) => statSync(path.join(folder, name)).mode & 0o777),
      [0o600, 0o600],
    );
  }));

it('a restore puts the words into the folder that the restored settings name', () =>
  inMachine(async ({ folder }, backup) => {
    writeFileSync(path.join(folder, '.env'), 'CAMPAIGN_FOLDER=campaign\n');
    await succeeded(deskIn(folder, { CAMPAIGN_FOLDER: undefined }, ['backup', backup]));
    const fresh = path.join(path.dirname(backup), 'fresh');
    mkdirSync(fresh);
    const done = await succeeded(deskIn(fresh, { CAMPAIGN_FOLDER: undefined }, ['restore', backup]));
    assert.match(done.notes, /fresh\/campaign was restored\.$/m);
    assert(readFileSync(path.join(fresh, 'campaign/article/article.md'), 'utf8').endsWith(HEADLINE));
  }));

it('a restore of words with mistakes names the backup and how to restore the rest', () =>
  inMachine(async (_, backup) => {
    const name = 'campaign/site.yaml';
    const content = 'nothing: here\n';
    {
      using database = new DatabaseSync(backup);
      database
        .prepare('update backup_files set content = ?, sha256 = ? where name = ?')
        .run(Buffer.from(content), hash('sha256', `${name}\0${content}`), name);
    }
    const fresh = await machineIn(path.join(path.dirname(backup), 'fresh'), 'sqlite');
    const notes = await refused(
      fresh.run('restore', backup),
      /\nThese words are in the backup\. To restore the rest, use --only database, then --only settings\.$/,
    );
    assert(notes.startsWith(`${fresh.folder}/campaign/site.yaml:1: title: is missing.\n`), notes);
    assert(!existsSync(path.join(fresh.folder, '.env')));
  }));

it('a restore of a part that the backup lacks is refused', () =>
  inMachine(async ({ folder, run }, backup) => {
    await succeeded(run('backup', backup, '--without-secrets'));
    const plain = path.join(folder, 'data/leads.db');
    for (const [file, part] of [
      [backup, 'settings'],
      [plain, 'settings'],
      [plain, 'words'],
    ] as const)
      await refused(
        run('restore', file, '--only', part),
        `Nothing was changed, because ${file} contains no ${part}. Name another backup.`,
      );
    assert.match(
      (await succeeded(run('restore', backup, '--only', 'words'))).notes,
      /^Nothing was changed, because everything is as in the backup\.$/m,
    );
  }));

it('a restore refuses changed and added files before anything changes', () =>
  inMachine(async (machine, backup) => {
    const fresh = await machineIn(path.join(path.dirname(backup), 'fresh'), 'sqlite');
    for (const [change, sentence] of [
      [`update backup_files set content = x'00' where name = '.env'`, /is damaged\. Use an older backup/],
      [`update backup_files set name = 'campaign/x.yaml' where name like '%site.yaml'`, /is damaged\./],
      [
        `insert into backup_files values ('${STRAY}', '${hash('sha256', `${STRAY}\0x`)}', cast('x' as blob))`,
        /contains a file with an unexpected name \(campaign\/\.\.\/\.\.\/stray\)\./,
      ],
    ] as const) {
      const spoilt = path.join(path.dirname(backup), 'spoilt.backup');
      cpSync(backup, spoilt);
      {
        using database = new DatabaseSync(spoilt);
        database.exec(change);
      }
      await refused(fresh.run('restore', spoilt), sentence);
      assert.deepEqual(readdirSync(fresh.folder), []);
    }
    assert(existsSync(machine.folder));
  }));

it('a restore of settings that name another database is refused while the site is running', () =>
  inMachine(async ({ folder }, backup) => {
    const database = path.join(folder, 'data/in-use.db');
    writeFileSync(path.join(folder, '.env'), `DATABASE_URL=file:${database}\n`);
    const running = await openTestService(folder, { DATABASE_URL: `file:${database}` });
    try {
      const env = { CAMPAIGN_FOLDER: path.join(folder, 'campaign') };
      const restoring = deskIn(folder, env, ['restore', backup, '--replace']);
      await refused(restoring, `${database} is in use, so nothing was changed. Stop the site first.`);
    } finally {
      await running.close();
    }
  }));

it('a backup is refused if .env cannot hold a setting of the environment', () =>
  inMachine(async ({ folder, databaseUrl }, backup) => {
    const env = { DATABASE_URL: databaseUrl, MAIL_FROM: '\'"` <a@example.com>' };
    await refused(
      deskIn(folder, env, ['backup', backup]),
      'No backup was written, because .env cannot hold the value of MAIL_FROM in the environment. Change its quotes or line breaks, or add --without-secrets.',
    );
    await succeeded(deskIn(folder, env, ['backup', backup, '--without-secrets']));
  }));

it('a backup without secrets needs the secret that it was made with', () =>
  inMachine(async ({ folder, run }, backup) => {
    const done = await run('backup', backup, '--without-secrets');
    assert.match(done.notes, /and the words\.\nIt does not contain \.env and APP_SECRET/);
    const secret = readFileSync(path.join(folder, 'data/app-secret'), 'utf8');
    assert(!readFileSync(backup).includes(secret));
    rmSync(path.join(folder, 'data'), { recursive: true });
    assert.match((await run('restore', backup)).notes, /app-secret is missing, but this database/);
    assert(!existsSync(path.join(folder, 'data/leads.db')));
  }));

it('a backup copied into place by hand can be backed up again', () =>
  inMachine(async ({ folder, run }, backup) => {
    cpSync(backup, path.join(folder, 'data/leads.db'));
    const secret = readFileSync(path.join(folder, 'data/app-secret'), 'utf8');
    await succeeded(run('backup', backup, '--without-secrets'));
    assert(!readFileSync(backup).includes(secret));
    await succeeded(run('restore', backup, '--replace'));
  }));

it('a backup contains a picture whose name begins with "readme", but no notes', () =>
  inFolder((folder) => {
    const file = (name: string) => path.join(folder, 'media', name);
    mkdirSync(path.join(folder, 'media'));
    for (const name of ['readme-example-640x280.webp', 'README.pdf', 'README', 'README.de.md', 'readme.txt'])
      writeFileSync(file(name), '');
    const names = wordFiles(folder).map(({ name }) => name);
    assert.deepEqual(names, ['campaign/media/README.pdf', 'campaign/media/readme-example-640x280.webp']);
  }));

it('a backup is refused if the words, or a folder in them, cannot be read', () =>
  inFolder((folder) => {
    const campaign = path.join(folder, 'campaign');
    const media = path.join(campaign, 'media');
    assert.throws(() => wordFiles(campaign), /campaign does not exist, so the words cannot be backed up\./);
    mkdirSync(media, { recursive: true });
    writeFileSync(path.join(media, 'hero.webp'), '');
    chmodSync(media, 0);
    const isRoot = process.getuid?.() === 0;
    try {
      chmodSync(folder, 0o755);
      if (isRoot) process.seteuid?.(65_534);
      assert.throws(() => wordFiles(campaign), { code: 'EACCES', path: media });
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(media, 0o700);
    }
  }));
