import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';

import { DAY_MS } from '#server/platform/time.ts';
import { deleteExpired } from '#server/db/queries/expiry.ts';
import { addFunnelCounts } from '#server/db/tables/counts.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { moveRows } from '#server/db/backup/move.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { createFunnelCounter, type FunnelCounter } from '#server/funnel/funnel.ts';
import { createExpiredRowDeleter } from '#server/housekeeping/housekeeping.ts';
import { createNetworkLimit } from '#server/platform/network-limit.ts';
import { REPORTS_FROM_NETWORK } from '#server/settings/fixed-limits.ts';
import { TEST_DIST } from '#testing/built-site.ts';
import { emptyDatabase, freshDatabase, openTestDatabase, withDatabase } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { createVisitor, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { refusalOf } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const ROBOTS = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'curl/8.14.1',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36',
  '',
];
const BROWSERS = [
  BROWSER,
  'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.30.1',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/490.0.0.41.108;FBBV/662515268;FBDV/iPhone14,5]',
  'Mozilla/5.0 (Linux; Android 10; CUBOT_X30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
];
const MAX_SOURCES = 200;
const CONFIG = { publicUrl: 'https://guide.example.com', funnelCounting: true, timeZone: 'UTC' };

type Headers = Readonly<Record<string, string>>;

async function counted({ db }: Pick<OpenDatabase, 'db'>): Promise<string[]> {
  const rows = await db.selectFrom('funnel_counts').selectAll().execute();
  return rows.map(({ day, step, source, count }) => `${day} ${step} ${source} ${count}`).toSorted();
}

const countedBy = async (server: ServerUnderTest): Promise<string[]> => {
  await server.service.funnel.write();
  const today = Math.floor(server.now() / DAY_MS);
  return (await counted(server.database)).map((row) => row.replace(`${today} `, ''));
};

/** Requests for the page get their response before they reach Fastify, so the server must listen on a port. */
async function openSite(server: ServerUnderTest) {
  const url = await server.listen();
  return async (address: string, headers: Headers = {}, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(new URL(address, url), {
      ...init,
      headers: { 'user-agent': BROWSER, ...headers },
    });
    await response.arrayBuffer();
    return response;
  };
}

const see = (funnel: Pick<FunnelCounter, 'pageSeen'>, source: string) =>
  funnel.pageSeen({
    url: `/?utm_source=${encodeURIComponent(source)}`,
    headers: { 'user-agent': BROWSER, host: 'guide.example.com' },
  });

const tell = (server: ServerUnderTest, body: unknown, headers: Headers = {}, address = '10.0.0.1') =>
  createVisitor(server, address).post('/api/funnel', body, {
    headers: { 'content-type': 'application/json', 'user-agent': BROWSER, ...headers },
  });

onEachEngine('funnel', { siteFolder: TEST_DIST }, ({ test, both, engine }) => {
  both('page views are counted by source, whether the response is 200 or 304', async (server) => {
    const ask = await openSite(server);
    const whole = await ask('/?utm_source=newsletter&utm_medium=email');
    assert.equal(whole.status, 200);
    const etag = whole.headers.get('etag') ?? '';
    assert.equal((await ask('/?utm_source=newsletter', { 'if-none-match': etag })).status, 304);
    await ask('/', { referer: 'https://news.example.org/some/page?secret=1' });
    await ask('/?gclid=abc', { referer: 'https://www.google.com/' });
    await ask('/', { referer: `${server.config.publicUrl}/?utm_source=old` });
    await ask('/', { 'sec-fetch-dest': 'document' });
    await ask('/?utm_source=ada@example.com');
    await ask('/?utm_source=ada%2540example.com');
    await ask('/?referrer=evil.example');
    assert.deepEqual(await countedBy(server), [
      'seen direct 3',
      'seen google-ads 1',
      'seen news.example.org 1',
      'seen newsletter 2',
      'seen others 2',
    ]);
    await ask('/?utm_source=newsletter');
    assert.ok((await countedBy(server)).includes('seen newsletter 3'));
    assert.doesNotMatch(server.logLines.join(''), /newsletter|news\.example|Chrome/);
  });

  test('opted-out visitors, robots, prefetches and other non-navigation requests are not counted', async (server) => {
    const ask = await openSite(server);
    for (const wish of [{ 'sec-gpc': '1' }, { dnt: '1' }]) {
      assert.equal((await ask('/', wish)).status, 200);
      assert.equal((await tell(server, { step: 'opened' }, wish)).statusCode, 204);
    }
    for (const robot of ROBOTS) {
      assert.equal((await ask('/', { 'user-agent': robot })).status, 200);
      assert.equal((await tell(server, { step: 'whole' }, { 'user-agent': robot })).statusCode, 204);
    }
    for (const ahead of [
      { 'sec-purpose': 'prefetch' },
      { 'sec-purpose': 'prefetch;prerender' },
      { purpose: 'prefetch' },
      { 'x-moz': 'prefetch' },
      { 'sec-fetch-dest': 'empty' },
    ])
      assert.equal((await ask('/', ahead)).status, 200);
    await ask('/', {}, { method: 'HEAD' });
    await ask('/nowhere');
    await ask('/robots.txt');
    assert.deepEqual(await countedBy(server), []);
  });

  test('reported steps are counted by the source that the form would send', async (server) => {
    const visit = new URLSearchParams({ first: 'utm_source=newsletter', last: '' }).toString();
    for (const step of ['opened', 'quarter', 'half', 'three-quarters', 'whole']) {
      const response = await tell(server, { step }, { 'x-visit': visit });
      assert.deepEqual([response.statusCode, response.body], [204, '']);
      assert.equal(response.cookies.length, 0);
    }
    await tell(server, { step: 'opened' });
    assert.deepEqual(await countedBy(server), [
      'half newsletter 1',
      'opened direct 1',
      'opened newsletter 1',
      'quarter newsletter 1',
      'three-quarters newsletter 1',
      'whole newsletter 1',
    ]);
    const before = server.logLines.length;
    for (const [body, status] of [
      [{ step: 'seen' }, 400],
      [{ step: 'opened', email: 'ada@example.com' }, 400],
      [{}, 400],
      ['{', 400],
      [{ step: 'opened', more: 'x'.repeat(300) }, 413],
    ] as const) {
      const refused = await tell(server, body);
      assert.equal(refused.statusCode, status, JSON.stringify(body).slice(0, 40));
      assert.match(refused.body, /^[A-Z].+\.$/);
    }
    assert.equal((await countedBy(server)).length, 6);
    assert.equal(server.logLines.length, before, 'no reported step fills the log');
  });

  test('ten thousand invented sources store only 200 rows per day and step', async (server) => {
    const { funnel } = server.service;
    see(funnel, 'newsletter');
    await funnel.write();
    for (let at = 0; at < 10_000; at += 1) {
      see(funnel, at % 2 ? `${at} ${'x'.repeat(300)}` : `source ${at}\u202E`);
      if (at % 1_500 === 0) await funnel.write();
    }
    see(funnel, 'newsletter');
    await funnel.write();
    see(funnel, 'newsletter');
    await funnel.write();
    const rows = await server.database.db.selectFrom('funnel_counts').selectAll().execute();
    assert.equal(rows.length, MAX_SOURCES + 1);
    assert.ok(rows.some(({ source, count }) => source === 'newsletter' && count >= 2));
    const others = rows.find(({ source }) => source === 'others');
    assert.ok(others && others.count > 5_000, String(others?.count));
    for (const { source } of rows) {
      assert.ok(Array.from(source).length <= 40, source);
      assert.doesNotMatch(source, /\p{C}/u);
    }
    await server.advance(86_400);
    see(funnel, 'webinar');
    assert.ok((await countedBy(server)).includes('seen webinar 1'));
  });

  it('funnel counts from several processes are added up within one limit', () =>
    inFolder(async (folder) => {
      const config = await emptyDatabase(engine, folder);
      await using opened = new AsyncDisposableStack();
      const databases = Array.from({ length: 4 }, () => opened.use(openTestDatabase(config)));
      await migrate(databases[0]!);
      for (const { db } of databases) await sql`select 1`.execute(db);
      const counters = databases.map((database) =>
        createFunnelCounter({ database, clock: () => 0, config: CONFIG }),
      );
      for (let round = 0; round < 3; round += 1) {
        for (const [at, counter] of counters.entries()) {
          see(counter, 'newsletter');
          for (let name = 0; name < 150; name += 1) see(counter, `s-${at}-${round}-${name}`);
        }
        await Promise.all(counters.map((counter) => counter.write()));
      }
      const rows = await databases[0]!.db.selectFrom('funnel_counts').selectAll().execute();
      assert.equal(rows.length, MAX_SOURCES + 1);
      assert.equal(
        rows.reduce((sum, { count }) => sum + count, 0),
        4 * 3 * 151,
        'none is lost',
      );
      assert.equal(rows.find(({ source }) => source === 'newsletter')?.count, 12);
    }));

  it('funnel counts survive a failed write and are written the next time', () =>
    withDatabase(engine, async (database) => {
      const funnel = createFunnelCounter({ database, clock: () => 0, config: CONFIG });
      await sql`alter table funnel_counts rename to away`.execute(database.db);
      see(funnel, 'newsletter');
      await assert.rejects(funnel.write());
      see(funnel, 'newsletter');
      await assert.rejects(funnel.write());
      see(funnel, 'newsletter');
      await sql`alter table away rename to funnel_counts`.execute(database.db);
      await funnel.write();
      await funnel.write();
      assert.deepEqual(await counted(database), ['0 seen newsletter 3']);
    }));

  it('funnel counts are deleted after two years', () =>
    withDatabase(engine, async (database) => {
      const counts = [20_000, 20_001, 20_700].flatMap((day) =>
        ['a', 'b', 'c', 'd', 'e'].map((source) => ({ day, step: 'seen' as const, source, count: 1 })),
      );
      await addFunnelCounts(database.db, counts, { maxSources: MAX_SOURCES, others: 'others' });
      assert.equal(
        await deleteExpired(database.db, 'funnel_counts', { before: 20_001 * DAY_MS, limit: 2 }),
        2,
      );
      const reported: unknown[] = [];
      await createExpiredRowDeleter({
        database,
        config: { retention: { unverifiedDays: 0, mailDays: 0 } },
        clock: () => (20_001 + 731) * DAY_MS,
        onExpired: (expired) => reported.push(expired),
      })();
      assert.deepEqual(reported, [{ funnel_counts: 3 }]);
      assert.equal((await counted(database)).length, 10);
    }));
});

it('the limit on funnel reports from one network does not affect others', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const statuses = new Set<number>();
    for (let at = 0; at < REPORTS_FROM_NETWORK.max; at += 1)
      statuses.add((await tell(server, { step: 'opened' }, {}, '2001:db8::1')).statusCode);
    assert.deepEqual([...statuses], [204]);
    const refused = await tell(server, { step: 'opened' }, {}, '2001:db8::2');
    assert.deepEqual(refusalOf(refused), [429, 'too-many-requests']);
    assert.equal(refused.headers['retry-after'], '3600');
    assert.equal((await tell(server, { step: 'opened' }, {}, '10.0.0.9')).statusCode, 204);
    await server.advance(3_600);
    assert.equal((await tell(server, { step: 'opened' }, {}, '2001:db8::2')).statusCode, 204);
    assert.equal(await server.countRows('limit_windows'), 0, 'no row for any of it');
  }));

it('funnel reports from common browsers are counted, including those in apps', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    for (const browser of BROWSERS) await tell(server, { step: 'opened' }, { 'user-agent': browser });
    assert.deepEqual(await countedBy(server), [`opened direct ${BROWSERS.length}`]);
  }));

it('FUNNEL_COUNTING=off stops all counting', () =>
  withServer({ engine: 'sqlite', siteFolder: TEST_DIST, env: { FUNNEL_COUNTING: 'off' } }, async (server) => {
    const ask = await openSite(server);
    assert.equal((await ask('/')).status, 200);
    assert.equal((await tell(server, { step: 'opened' })).statusCode, 204);
    assert.deepEqual(await countedBy(server), []);
  }));

it('funnel counts are moved from SQLite to PostgreSQL in pages', async () => {
  await using source = await freshDatabase('sqlite');
  await using target = await freshDatabase('postgres');
  const names = Array.from({ length: 150 }, (_, at) => `source ${at} é`);
  const counts = [9, 10, 100, 20_000].flatMap((day) =>
    (['seen', 'half', 'whole'] as const).flatMap((step) =>
      names.map((name) => ({ day, step, source: name, count: day })),
    ),
  );
  await addFunnelCounts(source.db, counts, { maxSources: MAX_SOURCES, others: 'others' });
  const moved = await moveRows(source, target, () => {});
  assert.equal(moved.find(({ table }) => table === 'funnel_counts')?.rows, 1_800);
  assert.deepEqual(await counted(target), await counted(source));
});

it('the limit on funnel reports remembers a limited number of networks', () => {
  const count = createNetworkLimit({ max: 1, windowMs: 1_000, maxNetworks: 2 });
  assert.equal(count('10.0.0.1', 0).type, 'allowed');
  assert.equal(count('10.0.0.2', 1).type, 'allowed');
  assert.deepEqual(count('10.0.0.1', 2), { type: 'exceeded', retryAfterSeconds: 1 });
  assert.equal(count('10.0.0.3', 3).type, 'allowed');
  assert.equal(count('10.0.0.2', 4).type, 'exceeded');
  assert.equal(count('10.0.0.1', 5).type, 'allowed', 'the oldest was forgotten');
});
