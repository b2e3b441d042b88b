import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { sql } from 'kysely';

import { openDatabase } from '#server/db/engine/connect.ts';
import { examineClock, examineDamage } from '#desk/doctor/database.ts';
import { judgeFreeSpace } from '#desk/doctor/data-folder.ts';
import { limitTime } from '#desk/doctor/finding.ts';
import { describeReadableByOthers } from '#server/platform/files.ts';
import { ENGINES } from '#testing/databases.ts';
import { findingsAbout, NOW, doctorTargetOf, withInstance } from '#testing/examined-instance.ts';
import { inFolder } from '#testing/folder.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';

for (const engine of ENGINES) {
  it(`the doctor reports a clock that is behind the newest row in ${engine}`, () =>
    withInstance({ engine }, async (instance) => {
      const service = await openTestService(instance.folder, instance.env, { clock: () => NOW });
      await sql`insert into outbox (id, kind, payload, recipient, due_at, created_at, turn_at)
          values ('a', 'code', '{}', 'ada@example.com', ${NOW}, ${NOW}, ${NOW})`.execute(service.database.db);
      await service.close();
      assert.match(
        (await findingsAbout('clock', instance, { now: NOW - 60_000 }))[0]!,
        /^problem: .*11:59:00\.000Z, but the newest row is from 2026-11-20T12:00:00\.000Z/,
      );
      assert.match((await findingsAbout('clock', instance))[0]!, /^ok: /);
    }));

  it(`the doctor reports ${engine} from a newer or another version and tables from an older one`, () =>
    withInstance({ engine }, async (instance) => {
      const { settings } = doctorTargetOf(instance, instance.env);
      assert(settings.type === 'settings');
      const { db, close } = openDatabase(settings.config.database, () => {});
      await sql`insert into kysely_migration (name, timestamp) values ('2099-01-01-flying-cars', '2099')`.execute(
        db,
      );
      const about = async () => (await findingsAbout('database', instance))[0]!;
      assert.match(await about(), /^problem: .*used by a newer version/);
      await sql`delete from kysely_migration where name not like '2099%'`.execute(db);
      const findings = await findingsAbout('database', instance);
      assert.match(findings[0]!, /^problem: The database was used by another version/);
      assert.doesNotMatch(findings.join(), /older version/);
      await sql`delete from kysely_migration`.execute(db);
      assert.match(await about(), /^note: The tables are from an older version\. The n/);
      await close();
    }));
}

it('the doctor reports a database that is missing, moved, damaged or of another type', () =>
  withInstance({ engine: 'sqlite' }, async (instance) => {
    const about = async (url?: string) =>
      (await findingsAbout('database', instance, url ? { env: { DATABASE_URL: url } } : {})).at(-1)!;
    const file = path.join(instance.folder, 'data/leads.db');
    assert.match(
      await about('postgres://127.0.0.1:1/leads'),
      /^problem: PostgreSQL at 127\.0\.0\.1:1 cannot be reached/,
    );
    assert.match(await about('file::memory:'), /^warning: The database is only in memory/);
    assert.match(await about('file:./elsewhere/leads.db'), /^note: There is no database at .*elsewhere/);
    writeFileSync(path.join(instance.folder, 'garbage.db'), 'no database, '.repeat(1000));
    assert.match(await about('file:./garbage.db'), /^problem: .*garbage\.db is not a SQLite database/);

    const bytes = readFileSync(file);
    const middle = Math.floor(bytes.length / 4096 / 2) * 4096;
    writeFileSync(path.join(instance.folder, 'damaged.db'), bytes.fill(0xff, middle, middle + 4096));
    assert.match(
      await about('file:./damaged.db'),
      /^problem: .*damaged\.db is (not a SQLite database, or is )?damaged/,
    );

    rmSync(file);
    writeFileSync(path.join(instance.folder, 'data/app-secret'), 'x'.repeat(43));
    assert.match(await about(), /^problem: There is no database at .*leads\.db, but .*app-secret exists/);
    assert.match(await about(`file:./${'x'.repeat(300)}/leads.db`), /^problem: .*written \(ENAMETOOLONG\)/);
    const denied = Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'open', path: file });
    const unchecked = JSON.stringify(await limitTime('files', 1_000, Promise.reject(denied)));
    assert.match(unchecked, /leads\.db cannot be opened: permission is denied\. Grant/);
  }));

it('the doctor reports a damaged secret file and private files that others can read', () =>
  withInstance({ engine: 'sqlite' }, async (instance) => {
    const secretFile = path.join(instance.folder, 'data/app-secret');
    const env = { APP_SECRET: '' };
    const secret = async () => (await findingsAbout('secret', instance, { env }))[0]!;
    assert.match(
      await secret(),
      /^problem: .*app-secret is missing, but this database has already been used with a secret/,
    );
    writeFileSync(secretFile, 'cut', { mode: 0o600 });
    assert.match(await secret(), /truncated/);
    writeFileSync(secretFile, TEST_SECRET.padEnd(43, 'q8Zr0n3u'), { mode: 0o600 });
    chmodSync(secretFile, 0o644);
    assert.match(await secret(), /does not match any secret that this database was used with/);
    const [open] = await findingsAbout('files', instance, { env });
    assert.match(open!, /^warning: Other users of this machine can read .*app-secret/);
  }));

it('the doctor quotes file names with spaces in the commands that it prints', () =>
  inFolder(async (folder) => {
    const file = path.join(folder, "Ada's guide.db");
    writeFileSync(file, '');
    truncateSync(file, 600_000_000);
    const quoted = `'${folder}/Ada'\\''s guide.db'`;
    const damage = await examineDamage(file);
    assert('sentence' in damage);
    assert.ok(damage.sentence.endsWith(`: sqlite3 ${quoted} 'pragma quick_check'`), damage.sentence);
    const open = describeReadableByOthers(file);
    assert.ok(open.endsWith(`: chmod go= ${quoted}`), open);
    assert.ok(describeReadableByOthers('/srv/data').endsWith('chmod go= /srv/data'));
  }));

it('the doctor reports files from a restore or a killed command', () =>
  withInstance({ engine: 'sqlite' }, async (instance) => {
    mkdirSync(path.join(instance.folder, 'keys'));
    const kept = ['.env', 'data/leads.db', 'keys/dkim.pem'].map((name) =>
      path.join(instance.folder, `${name}.before-20261122T120000`),
    );
    const left = path.join(instance.folder, 'data/desk-0a1b2c3d.part');
    for (const name of [...kept, left]) writeFileSync(name, '');
    const env = {
      SMTP_URL: 'smtp://127.0.0.1:9',
      DKIM_DOMAIN: 'example.com',
      DKIM_SELECTOR: 'guide',
      DKIM_PRIVATE_KEY_FILE: 'keys/dkim.pem',
    };
    const [, ...found] = await findingsAbout('files', instance, { env });
    assert.deepEqual(found, [
      ...kept.map(
        (name) =>
          `warning: ${name} was kept by a restore, and may contain secrets or erased people. Delete it once you no longer need it.`,
      ),
      `warning: ${left} remains from a killed command, and may contain secrets or erased people. Delete it, unless a command is still running.`,
    ]);
  }));

it('the doctor reports a PostgreSQL that is read-only or has a different clock', () =>
  withInstance({ engine: 'postgres' }, async (instance) => {
    const url = new URL(instance.env['DATABASE_URL'] ?? '');
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    const [found] = await findingsAbout('database', instance, { env: { DATABASE_URL: url.href } });
    assert.match(found!, /^problem: .*is read-only\. Name the primary server/);

    const state = {
      pending: [],
      unknown: [],
      secretIds: [],
      newestAt: null,
      deadEvents: 0,
      refusesEverybody: false,
      isReadOnly: false,
    };
    const about = (clockAheadMs: number) => examineClock({ ...state, clockAheadMs }, NOW);
    assert.equal(about(-900).state, 'ok');
    assert.match(about(90_000).sentence, /^The clock of the database is 90 seconds ahead of this machine's/);
    assert.match(about(-90_000).sentence, /90 seconds behind this machine's/);
  }));

it('the doctor reports too little free disk space', () => {
  const room = (freeBytes: number) => judgeFreeSpace('/srv/guide', freeBytes);
  assert.deepEqual(room(5 * 1024 ** 3), {
    check: 'disk',
    state: 'ok',
    sentence: 'The disk that holds /srv/guide has 5.0 GiB free.',
  });
  assert.equal(room(500 * 1024 ** 2).state, 'warning');
  assert.equal(room(50 * 1024 ** 2).state, 'problem');
});
