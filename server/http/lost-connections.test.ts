import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

import { API } from '#shared/api.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, filledForm, type ServerUnderTest } from '#testing/server-under-test.ts';

const CLIENTS = 40;

const rawPost = (url: string, body: object): string => {
  const json = JSON.stringify(body);
  return (
    `POST ${url} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
  );
};
const FORM = rawPost(API.leads, filledForm({ email: 'gone@example.com' }));
const CODE = rawPost(API.verify, { email: 'gone@example.com', code: '123456' });

const sendAndReset = (port: number, text: string): string => `
  const { connect } = require('node:net');
  for (let i = 0; i < ${CLIENTS}; i += 1) {
    const socket = connect({ port: ${port}, host: '127.0.0.1', localAddress: '127.0.0.2' }, () =>
      socket.write(${JSON.stringify(text)}, () => socket.resetAndDestroy()));
  }`;

async function expectNoFailure(server: ServerUnderTest): Promise<void> {
  const { body } = await server.metrics.render();
  assert.doesNotMatch(body, /lead_page_request_seconds_count\{[^}]*status="5..".* [1-9]/);
  const log = server.logLines.join('');
  assert.doesNotMatch(log, /"level":(50|60)/);
  assert.doesNotMatch(log, /gone@example\.com|Lovelace|127\.0\.0\.2/);
}

onEachEngine('disconnecting clients', ({ test }) => {
  test('a client that disconnects before being accepted leaves nothing stored or mailed', async (server) => {
    const port = Number((await server.listen()).port);
    for (const text of [FORM, CODE]) {
      // spawnSync blocks this process, so each connection is reset before the server accepts it.
      const { status } = spawnSync(process.execPath, ['-e', sendAndReset(port, text)]);
      assert.equal(status, 0);
    }
    const staying = await fetch(`http://127.0.0.1:${port}${API.health}`, {
      headers: { connection: 'close' },
    });
    assert.equal(staying.status, 200);
    await server.untilDisconnected();
    const visitor = createVisitor(server, '203.0.113.7');
    assert.equal((await visitor.post(API.leads, filledForm())).statusCode, 202);
    await server.inbox.waitForMail('ada@example.com');
    await expectNoFailure(server);
    for (const table of ['submissions', 'codes', 'outbox'] as const) {
      assert.equal(await server.countRows(table), 1, `${table}: the one of the visitor who stayed`);
    }
    assert.equal(server.inbox.mails.length, 1);
  });

  test('a request whose client disconnects before it is handled is dropped', async (server) => {
    for (const [url, payload] of [
      [API.leads, filledForm()],
      [API.verify, { email: 'gone@example.com', code: '123456' }],
    ] as const) {
      await assert.rejects(
        server.app.inject({ method: 'POST', url, payload, remoteAddress: 'undefined' }),
        /destroyed|aborted|closed/,
      );
    }
    await expectNoFailure(server);
    for (const table of ['submissions', 'codes', 'outbox', 'limit_windows'] as const) {
      assert.equal(await server.countRows(table), 0, table);
    }
  });

  test('a client that disconnects after being accepted leaves no row without an IP address', async (server) => {
    const port = Number((await server.listen()).port);
    for (let count = 0; count < CLIENTS; count += 1) {
      const taken = once(server.app.server, 'connection');
      const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
      socket.on('error', () => {});
      await Promise.all([taken, once(socket, 'connect')]);
      socket.write(FORM, () => socket.resetAndDestroy());
      await once(socket, 'close');
    }
    await server.untilDisconnected();
    const visitor = createVisitor(server, '203.0.113.7');
    assert.equal((await visitor.post(API.leads, filledForm())).statusCode, 202);
    await expectNoFailure(server);
    const rows = await server.database.db.selectFrom('submissions').select(['client_address']).execute();
    for (const { client_address } of rows) assert.match(client_address, /^(127\.0\.0\.2|203\.0\.113\.7)$/);
  });
});
