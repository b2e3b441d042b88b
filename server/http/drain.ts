// Lets connections go without cutting off a request: a balancer and a browser keep connections open, and may send the next
// request on one at the very moment the server closes it.
import net, { type Server } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;

/**
 * Stops accepting connections and waits for those that are open to end. While it waits, answers carry `Connection: close`
 * (app.ts), so each open connection ends with its next request.
 * @param patienceMs how long idle connections are waited for
 */
export async function drainConnections(server: Server, patienceMs: number): Promise<void> {
  // The close of net, not that of http: the latter ends idle connections at once, which is what this is here to avoid.
  net.Server.prototype.close.call(server);
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline && (await openConnections(server)) > 0) await setTimeout(LOOK_EVERY_MS);
}

const openConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.getConnections((error, count) => resolve(error ? 0 : count));
  });
