import { createServer } from 'node:net';

import { listening } from '#testing/listening.ts';

export async function freePort(): Promise<number> {
  await using server = await listening(createServer());
  return server.port;
}
