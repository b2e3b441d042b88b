// Ends connections without cutting off a request: balancers and browsers keep connections open, and may send the next request at
// the very moment the server closes one.
import net, { type Server } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;

/**
 * Stops accepting connections and waits for those that are open to end. While it waits, answers carry `Connection: close`
 * (http.ts), so each open connection ends with its next request.
 * @param patienceMs maximum wait for idle connections
 */
export async function drainConnections(server: Server, patienceMs: number): Promise<void> {
  // The close of net, not that of http, which would end idle connections at once.
  net.Server.prototype.close.call(server);
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline && (await openConnections(server)) > 0) await setTimeout(LOOK_EVERY_MS);
}

const openConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.getConnections((error, count) => resolve(error ? 0 : count));
  });
