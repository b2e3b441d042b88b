import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { smtpError } from '#testing/inbox.ts';
import { ask, askAndReceive, askForCode, EMAIL, enter } from '#testing/lead-calls.ts';
import { createVisitor, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

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

// Prometheus sees no increase in a series that begins with 1.
it('every counter in the alarms of docs/running.md is 0 from the start', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const running = readFileSync(path.resolve(import.meta.dirname, '../../docs/running.md'), 'utf8');
    const counters = Array.from(
      running.matchAll(/\b(?:increase|rate)\((lead_page_\w+)(?:\{(.*?)\})?\[/g),
      ([, name = '', label = '']) => new RegExp(`^${name}(?:\\{.*${label.replace('=~', '=')}.*\\})? 0$`, 'm'),
    );
    assert.ok(counters.length >= 5);
    const page = await scrapePort(server);
    for (const counter of counters) assert.match(page, counter);
  }));

onEachEngine('metrics', ({ test }) => {
  test(
    'metrics count requests, codes, limits and outbox without personal data',
    { env: { LEADS_PER_IP_PER_HOUR: '2' } },
    async (server) => {
      const { visitor, code } = await askForCode(server, '203.0.113.7');
      await server.advance(42);
      assert.equal((await enter(visitor, code)).statusCode, 200);
      await ask(visitor);
      assert.equal((await ask(visitor)).statusCode, 429);
      await visitor.get('/api/no-such-thing?email=ada@example.com');
      await server.inbox.waitForMail(EMAIL, 2);
      await server.advance(0);

      const page = await scrapePort(server);
      for (const [name, value] of [
        ['request_seconds_count{method="POST",route="/api/leads",status="202"}', 2],
        ['limits_hit_total{limit="too-many-requests"}', 1],
        ['mails_total{outcome="sent"}', 2],
        ['time_to_code_seconds_count', 1],
        ['time_to_code_seconds_sum', 42],
        ['outbox_depth', 0],
        ['database_up', 1],
      ] as const)
        assert.ok(page.includes(`\nlead_page_${name} ${value}\n`), name);
      assert.match(page, /^nodejs_eventloop_lag_p99_seconds /m);
      for (const secret of [EMAIL, 'Ada', 'Analytical', code, '203.0.113.7', 'no-such-thing']) {
        assert.ok(!page.includes(secret), `no "${secret}"`);
      }
    },
  );

  test('metrics report how many codes were entered and how many expired', async (server) => {
    await becomeLead(server, 'one@example.com');
    for (const name of ['two', 'three']) await askAndReceive(server, `${name}@example.com`);
    await server.advance(601);
    assert.equal(await server.metric('lead_page_codes_last_hour{outcome="entered"}'), 1);
    assert.equal(await server.metric('lead_page_codes_last_hour{outcome="expired"}'), 2);
  });

  test('metrics report a mail server that defers all recipients, but not one that defers a few', async (server) => {
    const deferOthers = (to: string) => (to === EMAIL ? null : smtpError(450, 'Try again later'));
    server.inbox.behave({ onRecipient: deferOthers });
    const askFrom = (address: string, count: number) =>
      ask(createVisitor(server, address), { email: `deferred-${count}@example.com` });
    const health = async () => (await server.app.inject(API.health)).statusCode;
    await askFrom('198.51.100.1', 1);
    await until(() => server.mailEvents.length > 0);
    await server.advance(121);
    assert.equal(await health(), 200, 'a stranger must not be able to do this');
    for (let count = 2; count <= 6; count += 1) await askFrom('198.51.100.1', count);
    await server.advance(121);
    assert.equal(await health(), 200, 'nor by trying hard');
    for (let count = 7; count <= 8; count += 1) await askFrom(`203.0.113.${count}`, count);
    await server.advance(121);
    assert.equal(await health(), 503, 'nothing goes out at all');
    await server.advance(600);
    server.wakeWorker();
    await until(() => server.mailEvents.filter(({ type }) => type === 'dropped').length >= 8);
    assert.equal((await ask(createVisitor(server, '198.51.100.1'))).statusCode, 202);
    await server.inbox.waitForMail(EMAIL);
    await server.advance(0);
    assert.equal(await health(), 200, 'something goes out');
  });

  test('the metrics port serves only metrics, health and liveness', async (server) => {
    const { port, close } = await server.metrics.serve(server.app, { port: 0, host: '127.0.0.1' });
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
