import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { it } from 'node:test';

import { freePort, WORKER_VARIABLE } from '#testing/free-port.ts';
import { listening } from '#testing/listening.ts';

it('freePort returns ports below those of outgoing connections', async () => {
  await using server = await listening(createServer());
  const outgoing = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      return socket.localPort ?? 0;
    }),
  );
  const free = await Promise.all(Array.from({ length: 100 }, freePort));
  assert(Math.max(...free) < Math.min(...outgoing), `${Math.max(...free)}, ${Math.min(...outgoing)}`);
});

it('freePort never returns the same port twice, not even to different workers', async () => {
  const previous = process.env[WORKER_VARIABLE];
  const ports: number[] = [];
  try {
    for (const worker of ['0', '1']) {
      process.env[WORKER_VARIABLE] = worker;
      ports.push(...(await Promise.all(Array.from({ length: 300 }, freePort))));
    }
  } finally {
    if (previous === undefined) delete process.env[WORKER_VARIABLE];
    else process.env[WORKER_VARIABLE] = previous;
  }
  assert.equal(new Set(ports).size, 600);
});
