import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { it } from 'node:test';

import { sql } from 'kysely';

import { API } from '#shared/api.ts';
import { TEST_DIST } from '#testing/built-site.ts';
import { rawRequest } from '#testing/raw-request.ts';
import {
  filledForm,
  withServer,
  type ServerOptions,
  type ServerUnderTest,
} from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const LIMITS = { maxOpen: 12, maxPerNetwork: 4 };
const VISITOR = '127.0.0.77';
const ATTACKERS = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`);

async function withPort(
  options: Partial<ServerOptions>,
  test: (
    server: ServerUnderTest & {
      readonly port: number;
      readonly sockets: readonly Socket[];
      readonly attack: (from: string, count: number, say?: string) => Promise<void>;
    },
  ) => Promise<void>,
): Promise<void> {
  await withServer({ engine: 'sqlite', connectionLimits: LIMITS, ...options }, async (server) => {
    const port = Number((await server.listen()).port);
    const sockets: Socket[] = [];
    server.app.server.on('connection', (socket) => sockets.push(socket));
    const attackers: Socket[] = [];
    const attack = async (from: string, count: number, say = '') => {
      const before = sockets.length;
      for (let index = 0; index < count; index += 1) {
        const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
        socket.on('error', () => {});
        attackers.push(socket);
        await once(socket, 'connect');
        socket.pause();
        if (say) socket.write(say);
      }
      await until(() => sockets.length >= before + count);
    };
    try {
      await test({ ...server, port, sockets, attack });
    } finally {
      for (const socket of attackers) socket.destroy();
      server.app.server.closeAllConnections();
    }
  });
}

async function ask(port: number, method: string, path: string, body?: object) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const options = { port, localAddress: VISITOR, agent: false, method, path, headers };
  return (await rawRequest(options, JSON.stringify(body))).statusCode;
}

let visitors = 0;
async function expectService(port: number, what: string): Promise<void> {
  for (let count = 0; count < 5; count += 1) {
    visitors += 1;
    const form = filledForm({ email: `visitor-${visitors}@example.com` });
    assert.equal(await ask(port, 'GET', '/'), 200, what);
    assert.equal(await ask(port, 'POST', API.leads, form), 202, what);
    assert.equal(await ask(port, 'GET', API.live), 200, what);
    assert.equal(await ask(port, 'GET', API.health), 200, what);
  }
}

const refusals = ({ metric }: ServerUnderTest, reason: string): Promise<number> =>
  metric(`lead_page_connections_refused_total{reason="${reason}"}`);
const complaints = ({ logLines }: ServerUnderTest): string[] =>
  logLines.filter((line) => line.includes('Too many connections'));

const HALF_A_HEAD = `POST ${API.leads} HTTP/1.1\r\nhost: x\r\n`;
const HALF_A_BODY = `${HALF_A_HEAD}content-type: application/json\r\ncontent-length: 99\r\n\r\n{"name":`;
const ANSWERED = `GET ${API.live} HTTP/1.1\r\nhost: x\r\n\r\n`;
const FILMS = 'GET /media/film.mp4 HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(30);

const attacks = {
  'that are silent': '',
  'with half a request head': HALF_A_HEAD,
  'with half a request body': HALF_A_BODY,
  'that are idle after a response': ANSWERED,
  'whose responses are not read': FILMS,
};
for (const [what, say] of Object.entries(attacks)) {
  it(`many connections ${what} do not lock out visitors`, () =>
    withPort({ siteFolder: TEST_DIST }, async (server) => {
      await server.attack('127.0.0.2', 2 * LIMITS.maxOpen, say);
      await expectService(server.port, 'one address');
      assert.ok((await refusals(server, 'network')) > 0, 'beyond its share');
      assert.equal(await refusals(server, 'process'), 0, 'one address does not fill the process');
      const open = () => server.sockets.filter(({ destroyed }) => !destroyed);
      assert.ok(open().length <= LIMITS.maxPerNetwork);

      for (const address of ATTACKERS) await server.attack(address, LIMITS.maxPerNetwork, say);
      if (say === FILMS) await until(() => open().every(({ writableLength }) => writableLength > 0));
      assert.equal(open().length, LIMITS.maxOpen);
      assert.equal(await server.metric('lead_page_connections_open'), LIMITS.maxOpen);
      await expectService(server.port, 'many addresses');
      assert.ok((await refusals(server, 'process')) > 0);

      const { body } = await server.metrics.render();
      assert.doesNotMatch(body, /lead_page_request_seconds_count\{[^}]*status="5..".* [1-9]/);
      const [line = '', ...others] = complaints(server);
      assert.equal(others.length, 0, 'one line a minute');
      assert.match(line, /"level":40.*"network":\d+,"process":\d+/);
      assert.doesNotMatch(server.logLines.join(''), /127\.0\.0\.([2-9]|77)\b/);
    }));
}

it('a connection with a complete request is never closed before its response', () =>
  withPort({ engine: 'postgres' }, async (server) => {
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = server.database.db.transaction().execute(async (tx) => {
      await sql`lock table submissions`.execute(tx);
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const arrived = once(server.app.server, 'request') as Promise<[IncomingMessage]>;
    const waiting = ask(server.port, 'POST', API.leads, filledForm());
    const [request] = await arrived;
    await until(() => request.readableEnded);
    for (const address of [...ATTACKERS, VISITOR]) await server.attack(address, 10);
    held.resolve();
    await lock;
    assert.equal(await waiting, 202);
  }));

it('a connection from a trusted proxy is exempt from the per-network limit and the last to be closed', () =>
  withPort({ env: { TRUST_PROXY: '127.0.0.2/32' } }, async (server) => {
    await server.attack('127.0.0.2', 8);
    assert.equal(await refusals(server, 'network'), 0);
    const kept = [...server.sockets];
    for (const address of ATTACKERS.slice(1)) await server.attack(address, LIMITS.maxPerNetwork);
    assert.ok((await refusals(server, 'process')) > 0);
    assert.ok(kept.every(({ destroyed }) => !destroyed));
  }));
