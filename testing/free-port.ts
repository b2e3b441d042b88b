import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The index of this process among those that run tests in parallel. Playwright sets it, too. */
export const WORKER_VARIABLE = 'TEST_PARALLEL_INDEX';

/** Operating systems use higher ports for outgoing connections (Linux from 32768, others from 49152). */
const LOWEST_PORT = 20_000;
const PORTS_PER_WORKER = 1_000;

/** Kept, because a port's server may not have started yet or may be restarting. */
const usedPorts = new Set<number>();

/** A port that no outgoing connection or other test can take while its server is stopped or not yet started. */
export async function freePort(): Promise<number> {
  const first = LOWEST_PORT + Number(process.env[WORKER_VARIABLE] ?? 0) * PORTS_PER_WORKER;
  for (;;) {
    const port = randomInt(first, first + PORTS_PER_WORKER);
    if (usedPorts.has(port)) continue;
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      if (usedPorts.has(port)) continue;
      usedPorts.add(port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    } finally {
      server.close();
    }
  }
}
