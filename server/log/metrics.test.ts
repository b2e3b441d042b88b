import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { API } from '#shared/api.ts';
import { codeIn, smtpError } from '#testing/inbox.ts';
import { askForCode, EMAIL } from '#testing/lead-calls.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const valueIn = (page: string, name: string): number | undefined => {
  const line = page.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
};

const scrape = async ({ metrics }: ServerUnderTest): Promise<string> => (await metrics.render()).body;

const scrapePort = async ({ metrics, app }: ServerUnderTest): Promise<string> => {
  const { port, close } = await metrics.serve(app, { port: 0, host: '127.0.0.1' });
  try {
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  } finally {
    await close();
  }
};

it('the dashboard uses only metrics that exist', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const dashboard = readFileSync(
      path.resolve(import.meta.dirname, '../../docs/grafana-dashboard.json'),
      'utf8',
    );
    const asked = new Set(dashboard.match(/\b(?:lead_page|nodejs|process)_[a-z0-9_]+/g));
    const page = await scrapePort(server);
    const families = new Set(
      Array.from(page.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ).flat(),
    );
    assert.ok(asked.size >= 10);
    assert.deepEqual(
      [...asked].filter((name) => !families.has(name)),
      [],
    );
  }));

const deferOthers = (address: string) => (address === EMAIL ? null : smtpError(450, 'Try again later'));

onEachEngine('metrics', ({ test }) => {
  test(
    'metrics count requests, codes, limits and outbox without personal data',
    { env: { LEADS_PER_IP_PER_HOUR: '2' } },
    async (server) => {
      const { visitor, code } = await askForCode(server, '203.0.113.7');
      await server.advance(42);
      assert.equal((await visitor.post(API.verify, { email: EMAIL, code })).statusCode, 200);
      await visitor.post(API.leads, filledForm());
      assert.equal((await visitor.post(API.leads, filledForm())).statusCode, 429);
      await visitor.get('/api/no-such-thing?email=ada@example.com');
      await server.inbox.waitForMail(EMAIL, 2);
      await server.advance(0);

      const page = await scrapePort(server);
      const seen = (name: string) => valueIn(page, name);
      assert.equal(seen('lead_page_request_seconds_count{method="POST",route="/api/leads",status="202"}'), 2);
      assert.equal(seen('lead_page_limits_hit_total{limit="too-many-requests"}'), 1);
      assert.equal(seen('lead_page_mails_total{outcome="sent"}'), 2);
      assert.equal(seen('lead_page_time_to_code_seconds_count'), 1);
      assert.equal(seen('lead_page_time_to_code_seconds_sum'), 42);
      assert.equal(seen('lead_page_outbox_depth'), 0);
      assert.equal(seen('lead_page_database_up'), 1);
      assert.ok(seen('nodejs_eventloop_lag_p99_seconds') !== undefined);
      for (const secret of [EMAIL, 'Ada', 'Analytical', code, '203.0.113.7', 'no-such-thing']) {
        assert.ok(!page.includes(secret), `no "${secret}"`);
      }
    },
  );

  test('metrics report how many codes were entered and how many expired', async (server) => {
    for (const email of ['one@example.com', 'two@example.com', 'three@example.com']) {
      const visitor = createVisitor(server);
      await visitor.post(API.leads, filledForm({ email }));
      const code = codeIn(await server.inbox.waitForMail(email));
      if (email.startsWith('one')) await visitor.post(API.verify, { email, code });
    }
    await server.advance(601);
    const page = await scrape(server);
    assert.equal(valueIn(page, 'lead_page_codes_last_hour{outcome="entered"}'), 1);
    assert.equal(valueIn(page, 'lead_page_codes_last_hour{outcome="expired"}'), 2);
  });

  test(
    'metrics report a mail server that defers all recipients, but not one that defers a few',
    { inbox: { onRecipient: deferOthers } },
    async (server) => {
      const ask = (email: string, address = '198.51.100.1') =>
        createVisitor(server, address).post(API.leads, filledForm({ email }));
      const health = async () => (await server.app.inject(API.health)).statusCode;
      await ask('deferred-1@example.com');
      await until(() => server.mailEvents.length > 0);
      await server.advance(121);
      assert.equal(await health(), 200, 'a stranger must not be able to do this');
      for (let count = 2; count <= 6; count += 1) await ask(`deferred-${count}@example.com`);
      await server.advance(121);
      assert.equal(await health(), 200, 'nor by trying hard');
      for (let count = 7; count <= 8; count += 1) {
        await ask(`deferred-${count}@example.com`, `203.0.113.${count}`);
      }
      await server.advance(121);
      assert.equal(await health(), 503, 'nothing goes out at all');
      await server.advance(600);
      server.wakeWorker();
      await until(() => server.mailEvents.filter(({ type }) => type === 'dropped').length >= 8);
      assert.equal((await ask(EMAIL)).statusCode, 202);
      await server.inbox.waitForMail(EMAIL);
      await server.advance(0);
      assert.equal(await health(), 200, 'something goes out');
    },
  );

  test('the metrics port serves only metrics, health and liveness', async (server) => {
    const { port, close } = await server.metrics.serve(server.app, {
      port: 0,
      host: '127.0.0.1',
    });
    try {
      const page = await fetch(`http://127.0.0.1:${port}/metrics`);
      assert.match(page.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
      assert.match(await page.text(), /# HELP lead_page_request_seconds /);
      const get = (url: string) => fetch(`http://127.0.0.1:${port}${url}`);
      for (const other of ['/', '/api/leads', '/metrics/x', '/api/health?x', '/constructor']) {
        assert.equal((await get(other)).status, 404, other);
      }
      assert.equal((await server.app.inject('/metrics')).statusCode, 404);
      for (const probe of [API.live, API.health]) {
        const answer = await get(probe);
        assert.equal(answer.status, 200, probe);
        assert.deepEqual(await answer.json(), { status: 'ok' });
      }
      await server.database.close();
      const sick = await get(API.health);
      assert.equal(sick.status, 503);
      assert.match(await sick.text(), /^The database is not responding\.$/);
      assert.equal((await get(API.live)).status, 200);
      await server.app.close();
      const stopping = await get(API.health);
      assert.equal(stopping.status, 503);
      assert.equal(await stopping.text(), 'This process is stopping.');
      assert.equal((await get(API.live)).status, 200, 'until the very end');
    } finally {
      await close();
    }
  });
});
