import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { describe, it } from 'node:test';

import { BLOCKED_PORTS } from '#server/settings/setting-values.ts';
import { explainDatabaseFailure, portMistakes } from '#server/startup/why-the-start-failed.ts';
import { freePort } from '#testing/free-port.ts';

async function onBlockedPort(answer: RequestListener, act: (port: number) => Promise<void>): Promise<void> {
  for (const port of [...BLOCKED_PORTS].filter((number) => number >= 1024)) {
    const server = createServer(answer).listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    try {
      return await act(port);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }
  return assert.fail('none of these ports is free');
}

describe('port in use that fetch refuses', () => {
  const look = async (port: number) => {
    const host = '127.0.0.1';
    return portMistakes({ port: await freePort(), host, metrics: { port, host } });
  };

  it('a start recognises the running page on a port that fetch refuses', () =>
    onBlockedPort(
      (_, response) => response.writeHead(200, { 'x-request-id': randomUUID() }).end('{}'),
      async (port) => {
        assert.match((await look(port)).join(), /^This site is already running on port/);
      },
    ));

  it('a start recognises another program on a port that fetch refuses', () =>
    onBlockedPort(
      (_, response) => response.end('x'.repeat(1_000_000)),
      async (port) =>
        assert.deepEqual(await look(port), [
          `Port ${port} is used by another program. Stop that program, or set METRICS_PORT to another number.`,
        ]),
    ));
});

it('a start explains a database disk without shared memory or locks', () => {
  const explain = (errcode: number) =>
    explainDatabaseFailure(
      Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode }),
      {
        engine: 'sqlite',
        file: '/srv/leads.db',
      },
    );
  for (const [errcode, sentence] of [
    [5386, /^\/srv\/leads\.db is on a disk without shared memory \(mmap\)/],
    [4618, /shared memory \(mmap\)/],
    [5, /is locked by another program, or is on a disk without locks/],
    [266, /^The disk of \/srv\/leads\.db reports an error\..*dmesg/],
  ] as const)
    assert.match(explain(errcode) ?? '', sentence, String(errcode));
});
