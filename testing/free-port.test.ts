import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { it } from 'node:test';

import { freePort, WORKER_VARIABLE } from '#testing/free-port.ts';
import { listening } from '#testing/listening.ts';

it('a port for a server is not one that the system gives to outgoing connections', async () => {
  await using server = await listening(createServer());
  const outgoing = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      return socket.localPort ?? 0;
    }),
  );
  const ports = await Promise.all(Array.from({ length: 100 }, freePort));
  assert(Math.max(...ports) < Math.min(...outgoing), `${Math.max(...ports)}, ${Math.min(...outgoing)}`);
});

it('a port for a server that has not started yet is given to no other test', async () => {
  const before = process.env[WORKER_VARIABLE];
  const given: number[] = [];
  try {
    for (const worker of ['0', '1']) {
      process.env[WORKER_VARIABLE] = worker;
      given.push(...(await Promise.all(Array.from({ length: 300 }, freePort))));
    }
  } finally {
    if (before === undefined) delete process.env[WORKER_VARIABLE];
    else process.env[WORKER_VARIABLE] = before;
  }
  assert.equal(new Set(given).size, 600);
});
