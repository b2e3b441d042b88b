import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs, {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it, mock } from 'node:test';

import { openDatabase } from '#server/db/engine/connect.ts';
import { MIGRATIONS, migrateTo } from '#server/db/migrations/migrate.ts';
import { inspectDatabase, moveIntoPlace } from '#server/db/backup/backup.ts';
import { deskIn, refused, succeeded } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';

const settings = { APP_SECRET: TEST_SECRET };
const RESTORE = ['restore', '--only', 'database', '--replace'];
const KEPT_AT = Date.UTC(2026, 10, 22, 12);

function contentOf(folder: string): Record<string, string> {
  const names = globSync('**', { cwd: folder }).toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const file = path.join(folder, name);
      const stats = lstatSync(file);
      if (stats.isSymbolicLink()) return [name, `link to ${readlinkSync(file)}`];
      if (!stats.isFile()) return [name, String(stats.mode)];
      return [name, `${stats.ino} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`];
    }),
  );
}

async function makeInstance(folder: string): Promise<void> {
  await openTestService(folder, settings).then(({ close }) => close());
  const take = async (name: string) => {
    const list = path.join(folder, 'list.csv');
    writeFileSync(list, `email,name\n${name}@example.com,${name}\n`);
    await succeeded(deskIn(folder, settings, ['import', list, '--consent-source', 'Mailchimp']));
  };
  await take('ada');
  await succeeded(deskIn(folder, settings, ['backup', path.join(folder, 'backup.db')]));
  await take('eve');
}

const peopleIn = async (folder: string): Promise<string[]> => {
  const { out } = await deskIn(folder, settings, ['leads', '--state', 'imported', '--json']);
  return (JSON.parse(out) as { name: string }[]).map(({ name }) => name).toSorted();
};

const change = (sql: string) => (file: string) => {
  using database = new DatabaseSync(file);
  database.exec(sql);
};
const overwrite = (content: string) => (file: string) => writeFileSync(file, content);

const LOOSE_ROW = `pragma foreign_keys = off; insert into exported_leads values ('nobody', 'crm', 1)`;
const BACKUP = 'Name a file written by "backup".';
const notOurs = (fault: string) => `is not a complete database of this software: ${fault}. ${BACKUP}`;
const DAMAGED = 'is damaged. Use an older backup, or recover its data (docs/running.md).';
const unmerged = (end: string) =>
  `is incomplete: its last changes are in FILE${end}. Merge the two files: sqlite3 FILE "pragma integrity_check; pragma wal_checkpoint(truncate)"`;

const UNFIT: readonly (readonly [spoil: (file: string) => void, sentence: string])[] = [
  [overwrite(''), `is empty. ${BACKUP}`],
  [overwrite('Dear diary, '.repeat(999)), `is not a SQLite database. ${BACKUP}`],
  [
    (file) => {
      overwrite('')(file);
      change('create table leads (id text); create table consent_receipts (id text)')(file);
    },
    notOurs('it has no list of migrations'),
  ],
  [change('drop table codes; drop table outbox'), notOurs('the table codes is missing')],
  [change('drop index outbox_by_turn'), notOurs('the index outbox_by_turn is missing')],
  [
    change('alter table leads add column notes text'),
    notOurs('the table leads differs from the expected one'),
  ],
  [
    change(`create trigger spy before insert on submissions begin select raise(abort, 'no'); end`),
    notOurs('the trigger spy does not belong in it'),
  ],
  [
    change(`update kysely_migration set name = '2020-01-01-x'`),
    notOurs('its list of migrations does not match any release'),
  ],
  [
    change(`insert into kysely_migration values ('2999-01-01-future', '2999-01-01')`),
    'was used by a newer version of this software. Restore it with that version, or name an older backup.',
  ],
  [(file) => truncateSync(file, statSync(file).size - 8192), DAMAGED],
  [
    (file) => {
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0xa5, 4096, 8192));
    },
    DAMAGED,
  ],
  [change(LOOSE_ROW), notOurs('rows in its table exported_leads refer to missing rows')],
  [(file) => writeFileSync(`${file}-wal`, 'something'), unmerged('-wal')],
  [(file) => writeFileSync(`${file}-journal`, 'something'), unmerged('-journal')],
];

it('a restore replaces the database with the backup and keeps the previous one', () =>
  inFolder(async (folder) => {
    await makeInstance(folder);
    assert.deepEqual(await peopleIn(folder), ['ada', 'eve']);
    chmodSync(path.join(folder, 'backup.db'), 0o644);
    const done = await succeeded(deskIn(folder, settings, [...RESTORE, path.join(folder, 'backup.db')]));
    const [, kept = ''] =
      /leads\.db was restored from .+backup\.db, with 0 leads and 1 imported person\.\nThe previous database was kept as (.+)\.$/.exec(
        done.notes,
      ) ?? [];
    assert.deepEqual(await peopleIn(folder), ['ada']);
    assert.equal(statSync(path.join(folder, 'data', 'leads.db')).mode & 0o777, 0o600);
    const then = { ...settings, DATABASE_URL: `file:${kept}` };
    assert.match((await deskIn(folder, then, ['leads', '--state', 'imported'])).out, /eve@example\.com/);
    await succeeded(deskIn(folder, settings, [...RESTORE, kept], { clock: () => KEPT_AT }));
    const data = readdirSync(path.join(folder, 'data'));
    const previous = data.filter((name) => name.startsWith('leads.db.')).toSorted();
    assert.deepEqual(previous, [path.basename(kept), 'leads.db.before-20261122T120000'].toSorted());
    assert(!data.some((name) => name.endsWith('.part')));
  }));

it('a restore replaces a damaged database without replaying its log', () =>
  inFolder(async (folder) => {
    await makeInstance(folder);
    const live = path.join(folder, 'data', 'leads.db');
    writeFileSync(live, 'These are no leads any more. '.repeat(999));
    writeFileSync(`${live}-wal`, 'A log of something else.');
    await succeeded(deskIn(folder, settings, [...RESTORE, path.join(folder, 'backup.db')]));
    assert.deepEqual(await peopleIn(folder), ['ada']);
  }));

it('a restore deletes sessions, sign-ins and passkeys of the desk and reports this', () =>
  inFolder(async (folder) => {
    await makeInstance(folder);
    const backup = path.join(folder, 'backup.db');
    change(`
        insert into desk_sessions values ('s', 'hash', 'ada@example.com', 1, 9e15, '', '');
        insert into desk_passkeys values ('p', 'ada@example.com', '', 'key', 0, 1, null);
        insert into desk_sign_ins values ('i', 'b', 'k', null, 's', 0, 1, 9e15, null, null);
      `)(backup);
    const done = await deskIn(folder, settings, [...RESTORE, backup]);
    assert.match(done.notes, /\nDesk sessions, sign-ins and passkeys were not restored\./);
    using live = new DatabaseSync(path.join(folder, 'data', 'leads.db'), { readOnly: true });
    for (const table of ['desk_sessions', 'desk_passkeys', 'desk_sign_ins'])
      assert.equal(live.prepare(`select count(*) as n from ${table}`).get()?.['n'], 0, table);
  }));

it('a database left by any earlier release can be restored', () =>
  inFolder(async (folder) => {
    const names = Object.keys(MIGRATIONS);
    const left = (name: string) => path.join(folder, `${name}.db`);
    for (const name of names) {
      const { db, close } = openDatabase({ engine: 'sqlite', file: left(name) }, () => {});
      await migrateTo(db, name);
      await close();
      const fit = { type: 'fit', leads: 0, imported: 0, files: [] };
      assert.deepEqual(await inspectDatabase(left(name)), fit, name);
    }
    const done = await succeeded(deskIn(folder, settings, [...RESTORE, left(names[0] ?? '')]));
    assert.doesNotMatch(done.notes, /was kept as/);
    assert.equal(statSync(path.join(folder, 'data')).mode & 0o777, 0o700);
    using live = new DatabaseSync(path.join(folder, 'data', 'leads.db'), { readOnly: true });
    const { count } = live.prepare('select count(*) as count from kysely_migration').get()!;
    assert.equal(count, names.length, 'it is brought up to date before it is let in');
  }));

it('a restore through a symbolic link keeps the link', () =>
  inFolder(async (folder) => {
    await makeInstance(folder);
    const link = path.join(folder, 'data', 'leads.db');
    const disk = path.join(folder, 'disk');
    mkdirSync(disk);
    renameSync(link, path.join(disk, 'real.db'));
    symlinkSync('../disk/real.db', link);
    await succeeded(deskIn(folder, settings, [...RESTORE, path.join(folder, 'backup.db')]));
    assert.equal(readlinkSync(link), '../disk/real.db');
    assert.deepEqual(await peopleIn(folder), ['ada']);
    assert.match(readdirSync(disk).join(' '), /^real\.db real\.db\.before-\w+$/);
  }));

describe('refused restores', () => {
  let folder = '';
  before(async () => {
    folder = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'lead-page-'));
    await makeInstance(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  const refuses = async (backup: string, sentence: string | RegExp, env = {}, at = folder) => {
    const content = contentOf(folder);
    const notes = await refused(deskIn(at, { ...settings, ...env }, [...RESTORE, backup]), sentence);
    assert.deepEqual(contentOf(folder), content);
    return notes;
  };

  for (const [spoil, sentence] of UNFIT)
    it(`a restore refuses a backup that ${sentence}`, async () => {
      const backup = path.join(folder, 'unfit.db');
      copyFileSync(path.join(folder, 'backup.db'), backup);
      spoil(backup);
      await refuses(backup, `${backup} ${sentence.replaceAll('FILE', backup)}`);
      for (const file of globSync(`${backup}*`)) rmSync(file);
    });

  it('a restore refuses a missing file, another file type and the database itself', async () => {
    const inside = (name: string) => path.join(folder, name);
    symlinkSync('data/leads.db', inside('link.db'));
    for (const [name, sentence] of [
      ['missing.db', `does not exist. ${BACKUP}`],
      ['data', `is not a file. ${BACKUP}`],
      ['data/leads.db', `is the database itself. ${BACKUP}`],
      ['link.db', `is the database itself. ${BACKUP}`],
    ] as const)
      await refuses(inside(name), `${inside(name)} ${sentence}`);
  });

  it('a restore refuses a backup with another secret and names the required one', async () => {
    const elsewhere = path.join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    await openTestService(elsewhere, {}).then(({ close }) => close());
    const backup = path.join(folder, 'backup.db');
    await refuses(
      backup,
      /app-secret does not match any secret that this database was used with\. Restore the file from a backup, or set APP_SECRET/,
      { APP_SECRET: '' },
      elsewhere,
    );
    const other = 'x'.repeat(32);
    const lacking = /^Nothing was changed, because APP_SECRET lacks the secret of .+backup\.db,/;
    await refuses(backup, lacking, { APP_SECRET: other }, elsewhere);
    const APP_SECRET = `${other},${TEST_SECRET}`;
    const both = await succeeded(deskIn(elsewhere, { APP_SECRET }, [...RESTORE, backup]));
    assert.doesNotMatch(both.notes, /different secret/);
  });

  it('a restore of a backup without its secret accepts a new APP_SECRET with a warning', async () => {
    const lost = path.join(folder, 'lost.backup');
    await deskIn(folder, settings, ['backup', lost, '--without-secrets']);
    await inFolder(async (elsewhere) => {
      const done = await succeeded(deskIn(elsewhere, { APP_SECRET: 'x'.repeat(32) }, [...RESTORE, lost]));
      assert.match(done.notes, /^Warning: This database was used with a different secret/m);
    });
  });

  it('a restore is refused while the site is running', async () => {
    const running = await openTestService(folder, settings);
    try {
      await refuses(
        path.join(folder, 'backup.db'),
        `${path.join(folder, 'data/leads.db')} is in use, so nothing was changed. Stop the site first.`,
      );
    } finally {
      await running.close();
    }
  });
});

it('a backup of a database that cannot be restored prints a warning', () =>
  inFolder(async (folder) => {
    await makeInstance(folder);
    const live = path.join(folder, 'data', 'leads.db');
    const file = path.join(folder, 'copy.db');
    for (const [spoil, what] of [
      [LOOSE_ROW, 'rows in its table exported_leads refer to missing rows'],
      ['create view everybody as select email from leads', 'the view everybody does not belong in it'],
    ] as const) {
      change(spoil)(live);
      await refused(
        deskIn(folder, settings, ['backup', file]),
        `${file} was written, but "restore" will refuse it, because ${live} is not a complete database of this software: ${what}. Fix the database, and make the backup again.`,
      );
      assert(existsSync(file));
    }
  }));

const replacement = (folder: string, staged: string, name: string) => ({
  staged: path.join(folder, staged),
  place: path.join(folder, name),
  kept: path.join(folder, `${name}.before`),
});

it('a restore puts everything back if one part cannot be moved into place', () =>
  inFolder(async (folder) => {
    const inside = (name: string) => path.join(folder, name);
    for (const part of ['', '-wal', '-shm']) writeFileSync(inside(`leads.db${part}`), `old${part}`);
    for (const name of ['.env', 'new.part']) writeFileSync(inside(name), name);
    const { 'new.part': _staged, ...content } = contentOf(folder);
    await assert.rejects(
      moveIntoPlace([
        replacement(folder, 'new.part', '.env'),
        replacement(folder, 'absent.part', 'leads.db'),
      ]),
      { code: 'ENOENT' },
    );
    assert.deepEqual(contentOf(folder), content);
    assert.equal(readFileSync(inside('.env'), 'utf8'), '.env');
  }));

it('a killed restore leaves either the previous or the new file, without the log of another database', () =>
  inFolder(async (folder) => {
    const inside = (name: string) => path.join(folder, name);
    const textOf = (name: string) => (existsSync(inside(name)) ? readFileSync(inside(name), 'utf8') : null);
    for (const name of ['.env', 'leads.db', 'leads.db-wal']) writeFileSync(inside(name), 'old');
    for (const name of ['env.part', 'leads.part']) writeFileSync(inside(name), 'new');
    const seen: (string | null)[][] = [];
    for (const step of ['linkSync', 'renameSync', 'rmSync'] as const) {
      const act = fs[step] as (...args: unknown[]) => void;
      mock.method(fs, step, (...args: unknown[]) => {
        act(...args);
        seen.push(['.env', 'leads.db', 'leads.db-wal'].map(textOf));
      });
    }
    syncBuiltinESMExports();
    try {
      await moveIntoPlace([
        replacement(folder, 'leads.part', 'leads.db'),
        replacement(folder, 'env.part', '.env'),
      ]);
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert(seen.length > 3);
    for (const [settingsThen, database, log] of seen) {
      assert(settingsThen && database, 'a name was absent');
      assert(database === 'old' || log === null, 'a log of another database');
    }
    assert.deepEqual(seen.at(-1), ['new', 'new', null]);
    assert.deepEqual(
      ['.env', 'leads.db', 'leads.db-wal'].map((name) => textOf(name.replace(/db|env/, '$&.before'))),
      ['old', 'old', 'old'],
    );
  }));
