import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';

import '@fastify/under-pressure';
import Fastify, { type FastifyInstance } from 'fastify';

import { addLoadShedding, defaultMaxResidentBytes } from '#server/http/load-shedding.ts';
import { API } from '#shared/api.ts';
import { askFrom } from '#testing/lead-calls.ts';
import { postJson } from '#testing/post-json.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { valuesOf } from '#testing/values-of.ts';

// SQLite finishes one request before the next, so few requests are ever pending.
it('an overloaded server responds with 503 but finishes accepted requests', () =>
  withServer({ engine: 'postgres', loadLimits: { maxPending: 5 } }, async (server) => {
    const asks = Array.from({ length: 40 }, (_, index) =>
      askFrom(server, `203.0.113.${index}`, `visitor-${index}@example.com`),
    );
    for (const probe of [API.live, API.health, `${API.health}?from=monitor`]) {
      assert.equal((await server.app.inject(probe)).statusCode, 200, `${probe} is never shed`);
    }
    const answers = await Promise.all(asks);
    const taken = answers.filter(({ statusCode }) => statusCode === 202);
    const shed = answers.filter(({ statusCode }) => statusCode === 503);
    assert.equal(taken.length + shed.length, 40);
    assert.ok(shed.length > 0 && taken.length > 0, `${taken.length} taken, ${shed.length} shed`);
    for (const { headers, body } of shed) {
      assert.ok(Number(headers['retry-after']) > 0);
      assert.match(body, /^We cannot take this request at the moment\./);
    }
    assert.equal(await server.countRows('submissions'), taken.length);
    const later = await createVisitor(server).post(API.leads, filledForm({ email: 'later@example.com' }));
    assert.equal(later.statusCode, 202);
  }));

it('an overloaded server also refuses requests whose path is encoded', () =>
  withServer({ engine: 'sqlite', loadLimits: { maxPending: 0, maxEventLoopDelayMs: 0 } }, async ({ app }) => {
    for (const url of [API.article, API.article.replace('api', '%61pi')])
      assert.equal((await app.inject(url)).statusCode, 503, url);
  }));

const WITHIN_MS = 10_000;
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

async function appThatSheds(maxEventLoopDelayMs: number, maxPending = 10): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true });
  await addLoadShedding(app, (reply) => reply.code(503).send(), { maxPending, maxEventLoopDelayMs });
  app.get('/', async () => 'hello');
  return app;
}

it('the server responds with 503 while its event loop is delayed', async () => {
  await using app = await appThatSheds(20);
  await until(
    async () => {
      block(100);
      return (await app.inject('/')).statusCode === 503;
    },
    WITHIN_MS,
    1,
  );
});

it('the first visitor is not refused if the start delayed the event loop', async () => {
  await using app = await appThatSheds(1_000);
  block(1_200);
  await app.ready();
  await until(() => app.memoryUsage().eventLoopDelay > 0, WITHIN_MS, 1);
  assert.ok(app.isUnderPressure(), 'the start was late');
  assert.equal((await app.inject('/')).statusCode, 200);
});

const GB = 1024 ** 3;
const MB = 1024 ** 2;

it('a process over its memory limit responds with 503 and asks for a restart', () =>
  withServer({ engine: 'sqlite', loadLimits: { maxResidentBytes: 1 } }, async (server) => {
    await until(async () => (await server.app.inject(API.article)).statusCode === 503);
    const form = await createVisitor(server).post(API.leads, filledForm());
    assert.equal(form.statusCode, 503);
    assert.ok(Number(form.headers['retry-after']) > 0);
    assert.match(form.body, /^We cannot take this request at the moment\./);
    const health = await server.app.inject(API.health);
    assert.equal(health.statusCode, 503);
    assert.equal(health.body, 'This process uses too much memory. Restart the server.');
    assert.ok(Number(health.headers['retry-after']) > 0);
  }));

it('the memory limit is 80 % of available memory, at most 512 MB above the heap limit', () => {
  const heapLimit = 2 * GB;
  const share = (bytes: number) => bytes * 0.8;
  assert.equal(
    defaultMaxResidentBytes({ constrained: 512 * MB, total: 64 * GB, heapLimit }),
    share(512 * MB),
  );
  assert.equal(defaultMaxResidentBytes({ constrained: 0, total: 1 * GB, heapLimit }), share(1 * GB));
  assert.equal(defaultMaxResidentBytes({ constrained: 2 ** 64, total: 2 * GB, heapLimit }), share(2 * GB));
  assert.equal(defaultMaxResidentBytes({ constrained: 0, total: 64 * GB, heapLimit }), 2 * GB + 512 * MB);
  assert.ok(defaultMaxResidentBytes() > process.memoryUsage.rss());
});

async function connectAndSay(port: string, text: string): Promise<{ ended: Promise<string> }> {
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    socket.once('end', () => resolve(received));
  });
  await once(socket, 'connect');
  socket.write(text);
  return { ended };
}

it('slowly read responses do not count as pending requests', async () => {
  await using app = await appThatSheds(0, 2);
  app.get(API.guideFile, async (_request, reply) => {
    const endless = new PassThrough();
    endless.write('The guide begins.');
    return reply.send(endless);
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const readers = Array.from({ length: 5 }, () => fetch(url + API.guideFile));
  assert.deepEqual(valuesOf(await Promise.all(readers), 'status'), [200, 200, 200, 200, 200]);
  assert.equal((await fetch(url)).status, 200);
});

const HALF = `POST ${API.leads} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n`;

it('any number of incomplete requests leaves room for other visitors', () =>
  withServer({ engine: 'sqlite', loadLimits: { maxPending: 5 } }, async (server) => {
    const { port, origin } = await server.listen();
    for (let count = 0; count < 30; count += 1) await connectAndSay(port, HALF);
    assert.equal((await postJson(origin + API.leads, filledForm())).status, 202);
    server.app.server.closeAllConnections();
  }));

it('an incomplete request gets a response and is disconnected', { timeout: 60_000 }, () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const { ended } = await connectAndSay((await server.listen()).port, HALF);
    assert.match(await ended, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    await server.untilDisconnected();
  }),
);
