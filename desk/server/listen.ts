// Listening on a port that another process may still hold: after a restart, the desk of the process before.
import { setTimeout } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';

/** Between two tries. */
const PAUSE_MS = 200;
/** The desk of a process that stops holds its port for some seconds; longer means another program. */
const SAY_AFTER_MS = 20_000;

/**
 * Listens as soon as the port is free.
 * @param where onWait: called once when it takes unusually long; signal: gives up
 * @returns the port; null when it was given up. Throws when it cannot listen for another reason
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

/** Not by Fastify, which can be asked once. @returns why it cannot */
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
