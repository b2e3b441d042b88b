import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { sql } from 'kysely';

import { CommandFailure } from '#desk/command-failure.ts';
import { logAction } from '#desk/audit-log/audit-log.ts';
import type { log, LogEntry } from '#desk/endpoints/auth.ts';
import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { deskOnEachEngine, atDesk, createDeskBrowser, signInAtDesk } from '#testing/desk-under-test.ts';
import { desk, importFile } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

const ADA = 'ada@example.com';
const LEAD = 'lin@example.org';

const logOf = ({ database: { db } }: ServerUnderTest) =>
  db.selectFrom('desk_log').selectAll().orderBy('id').execute();

deskOnEachEngine('audit log', ({ test, both }) => {
  both('the audit log is listed page by page, newest or oldest first', async (app, server) => {
    await becomeLead(server, LEAD);
    const ada = await signInAtDesk(server, createDeskBrowser(app, '203.0.113.4'), ADA);
    const { service } = server;
    await desk(service, ['correct', LEAD, '--company', 'Engines']);
    await desk(service, ['export', '--source', 'direct', '--search', LEAD]);
    await desk(service, ['export', '--list']);
    await desk(service, ['export', '--source', LEAD]);
    await inFolder((folder) => desk(service, ['person', LEAD, '--out', path.join(folder, 'ada')]));
    await importFile(server, 'email\ngrace@example.com\n', '--dry-run');
    await importFile(server, 'email\ngrace@example.com\n');
    await desk(service, ['suppress', 'add', LEAD, '--note', 'asked by telephone']);
    await desk(service, ['suppress', 'remove', LEAD]);
    await desk(service, ['suppress', 'remove', LEAD]);
    await desk(service, ['erase', LEAD]);
    const list = async (...args: string[]) =>
      JSON.parse((await desk(service, ['log', '--json', ...args])).out) as LogEntry[];
    const lines = await list();
    assert.deepEqual(
      lines.map(({ who, action, about, details }) => [who, action, about, details]),
      [
        [ADA, 'signed-in', null, ''],
        ['command line', 'corrected', LEAD, 'correct'],
        ['command line', 'exported', null, 'export, format: csv, state: verified, of a source'],
        ['command line', 'exported', null, 'export, format: csv, state: verified, of a source'],
        ['command line', 'exported', LEAD, 'person'],
        ['command line', 'imported', null, 'import'],
        ['command line', 'suppressed', LEAD, 'suppress add, reason: by-hand'],
        ['command line', 'unsuppressed', LEAD, 'suppress remove'],
      ],
      'what was refused or only listed is not in it',
    );
    assert.equal(lines[0]?.from, '203.0.113.4');
    assert.equal(lines[0]?.at, new Date(server.now()).toISOString());
    assert.deepEqual(await list('--newest'), lines.toReversed());
    const shown = await desk(service, ['log']);
    assert.match(shown.out, /^when +who +action +about +details +from\n/);
    assert.match(shown.notes, /8 lines\./);

    const pageAt = async (url: string) => (await ada.get(url)).json<OutputOf<typeof log>>();
    assert.deepEqual(await pageAt('/api/log'), { entries: lines.toReversed(), next: null });
    for (let at = 0; at < 120; at += 1)
      await logAction(service, { who: ADA, action: 'viewed', about: null, details: String(at), from: '' });
    const newest = await pageAt('/api/log');
    const rest = await pageAt(`/api/log?after=${newest.next}`);
    assert.deepEqual([newest.entries.length, rest.entries.length, rest.next], [100, 28, null]);
    assert.equal(new Set([...newest.entries, ...rest.entries].map(({ id }) => id)).size, 128);
  });

  both('the audit log contains no erased e-mail address, even in later lines', async (app, server) => {
    const { service } = server;
    await becomeLead(server, LEAD);
    await signInAtDesk(server, createDeskBrowser(app), ADA);
    const look = () => logAction(service, { who: ADA, action: 'viewed', about: LEAD, from: '203.0.113.4' });
    await look();
    await look();
    assert.deepEqual(
      (await logOf(server)).map(({ action, about }) => [action, about]),
      [
        ['signed-in', null],
        ['viewed', LEAD],
      ],
      'one look is one line',
    );
    const erased = await desk(service, ['erase', LEAD, '--yes']);
    assert.match(erased.out, /1 audit log entry/);
    await look();
    const lines = await logOf(server);
    assert.doesNotMatch(JSON.stringify(lines), /lin@/);
    const pseudonym = lines[1]?.about;
    assert.match(pseudonym ?? '', /^erased [\w-]{22}$/);
    assert.deepEqual(
      lines.map(({ action, about }) => [action, about]),
      [
        ['signed-in', null],
        ['viewed', pseudonym],
        ['erased', pseudonym],
        ['viewed', pseudonym],
      ],
      'that it was done stays, and lines about one person belong together',
    );
  });

  test('the audit log names the desk users who saw the newest leads on the overview', async (app, server) => {
    const bob = await signInAtDesk(server, createDeskBrowser(app), 'bob@example.com');
    const looks = async () => {
      assert.equal((await bob.get('/api/today')).statusCode, 200);
      const lines = await logOf(server);
      return lines.flatMap(({ who, action, details }) => (action === 'viewed' ? [[who, details]] : []));
    };
    assert.deepEqual(await looks(), [], 'there is nobody to see yet');
    await becomeLead(server, LEAD);
    assert.deepEqual(await looks(), [['bob@example.com', 'list: newest leads']]);
    await server.database.db.schema.alterTable('desk_log').renameTo('away').execute();
    assert.equal((await bob.get('/api/today')).statusCode, 200, 'the overview reports the problem');
    await server.database.db.schema.alterTable('away').renameTo('desk_log').execute();
  });

  test('paging through all contacts adds one audit log line per filter every ten minutes', async (app, server) => {
    const bob = await signInAtDesk(server, createDeskBrowser(app), 'bob@example.com');
    const look = async () => {
      for (const list of [
        'people',
        'people?after=ffffffff-ffff-7fff-8fff-ffffffffffff',
        'people?search=lin@example.org',
        'people?search=grace&source=lin',
        'lost?from=2026-11-01&to=2026-11-20',
        'suppressions',
      ])
        assert.equal((await bob.get(`/api/${list}`)).statusCode, 200, list);
    };
    await look();
    await look();
    const seen = [
      'list: verified',
      'list: verified, with a search',
      'list: verified, of a source, with a search',
      'list: lost leads, from 2026-11-01, to 2026-11-20',
      'list: addresses that get no mail',
    ];
    const noted = async () =>
      (await logOf(server))
        .filter(({ action }) => action === 'viewed')
        .map(({ who, details }) => `${who} ${details}`);
    const of = (details: string) => `bob@example.com ${details}`;
    assert.deepEqual(await noted(), seen.map(of));
    await server.advance(601);
    await look();
    assert.deepEqual(await noted(), [...seen, ...seen].map(of));
  });

  test(
    'audit log lines expire after RETENTION_DAYS, and desk sessions when they end',
    async (app, server) => {
      await signInAtDesk(server, createDeskBrowser(app), ADA);
      const { countRows } = server;
      const { runHousekeeping } = housekeeperOf(server);
      const counts = async () => {
        await runHousekeeping();
        return [
          await countRows('desk_sign_ins'),
          await countRows('desk_sessions'),
          await countRows('desk_log'),
        ];
      };
      assert.deepEqual(await counts(), [1, 1, 1]);
      await server.advance(12 * 3_600 + 1);
      assert.deepEqual(await counts(), [0, 0, 1]);
      await server.advance(9 * 86_400);
      assert.deepEqual(await counts(), [0, 0, 1]);
      await server.advance(86_400);
      assert.deepEqual(await counts(), [0, 0, 0]);
    },
    { RETENTION_DAYS: '10' },
  );
});

it('the audit log also records failed actions, but not actions that never started', () =>
  atDesk('sqlite', (_app, server) =>
    inFolder(async (folder) => {
      const { service } = server;
      await becomeLead(server, LEAD);
      const gone = () => Promise.reject(new CommandFailure('The reader is gone.'));
      const file = (name: string, text: string) => {
        writeFileSync(path.join(folder, name), text);
        return path.join(folder, name);
      };
      const list = file('list.csv', 'email\ngrace@example.com\nalan@example.com\n');
      const run = async (exitCode: number, args: string[], replacements = {}) => {
        const answer = await desk(service, args, replacements);
        assert.equal(answer.exitCode, exitCode, answer.notes);
      };
      await run(1, ['export'], { print: gone });
      await run(1, ['correct', LEAD, '--company', 'Engines'], { print: gone });
      await run(1, ['import', list, '--consent-source', 'a fair', '--json'], { print: gone });
      await run(0, ['import', list, '--consent-source', 'a fair']);
      await run(0, ['suppress', 'import', file('none.csv', 'email\n')]);
      await run(130, ['suppress', 'import', list], { signal: AbortSignal.abort() });
      const stop = new AbortController();
      await run(130, ['suppress', 'import', list], { signal: stop.signal, progress: () => stop.abort() });
      await run(0, ['suppress', 'add', 'grace@example.com']);
      await run(0, ['suppress', 'import', file('known.csv', 'email\ngrace@example.com\n')]);
      await run(1, ['export', '--out', folder]);
      // A seal waits for the queued code, which is only discarded after 61 s.
      await server.advance(61);
      await run(0, ['consent', 'verify']);
      await sql`update leads set email = 'lin@example.net'`.execute(server.database.db);
      await run(1, ['consent', 'export', 'lin@example.net', '--out', path.join(folder, 'lin')]);
      mkdirSync(path.join(folder, 'half.html'));
      await run(1, ['person', 'lin@example.net', '--out', path.join(folder, 'half')]);
      await run(1, ['erase', 'lin@example.net', '--yes', '--json'], { print: gone });
      const lines = JSON.parse((await desk(service, ['log', '--json'])).out) as LogEntry[];
      assert.deepEqual(
        lines.map(({ action, details }) => [action, details]),
        [
          ['exported', 'export, format: csv, state: verified'],
          ['corrected', 'correct'],
          ['imported', 'import'],
          ['suppressed', 'suppress import'],
          ['exported', 'consent export'],
          ['exported', 'person'],
          ['erased', 'erase'],
        ],
      );
    }),
  ));

it('the audit log shows markup and formulas as text', () =>
  atDesk('sqlite', async (app, server) => {
    const address = `"<img/src=x/onerror=alert(1)>=1+1"@example.com`;
    await server.database.db
      .insertInto('suppressions')
      .values({
        address_key: 'k',
        reason: 'by-hand',
        email: address,
        note: '\u001B[2J',
        created_at: server.now(),
      })
      .execute();
    const who = '\u001B[2J=HYPERLINK("x")';
    await logAction(server.service, {
      who,
      action: 'viewed',
      about: address,
      details: '\u009B31m',
      from: '',
    });
    const ada = await signInAtDesk(server, createDeskBrowser(app), ADA);
    const answer = await ada.get('/api/log');
    assert.match(String(answer.headers['content-type']), /^application\/json/);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.json<OutputOf<typeof log>>().entries[1]?.about, address);
    for (const args of [['log'], ['log', '--json'], ['suppress', 'list'], ['suppress', 'export']]) {
      const { out } = await desk(server.service, args);
      assert.ok(!out.includes('\u001B') && !out.includes('\u009B'), args.join(' '));
    }
  }));
