import { setTimeout } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

const PAUSE_MS = 200;
/** A stopping desk frees its port within seconds; a longer wait means another program. */
const SAY_AFTER_MS = 20_000;

/**
 * @param where onWait: called once after an unusually long wait
 * @returns the port, or null if stopped
 */
export async function listenPatiently(
  app: FastifyInstance,
  { host, port, signal, onWait }: { host: string; port: number; signal: AbortSignal; onWait: () => void },
): Promise<number | null> {
  await app.ready();
  const begun = performance.now();
  let isSaid = false;
  for (;;) {
    if (signal.aborted) return null;
    const error = await listen(app, host, port);
    if (error === null) return Object.assign({ port }, app.server.address()).port;
    if (error.code !== 'EADDRINUSE') throw error;
    if (!isSaid && performance.now() - begun > SAY_AFTER_MS) {
      isSaid = true;
      onWait();
    }
    await setTimeout(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}

/**
 * Tries the port with a plain server, because Fastify can listen only once.
 * @returns the reason for a failure
 */
const listen = (
  { server }: FastifyInstance,
  host: string,
  port: number,
): Promise<NodeJS.ErrnoException | null> =>
  new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => {
      server.off('listening', listening);
      resolve(error);
    };
    const listening = () => {
      server.off('error', failed);
      resolve(null);
    };
    server.once('error', failed);
    server.once('listening', listening);
    server.listen({ host, port });
  });
