import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** The number of this process among those that test at the same time. Playwright sets it, too. */
export const WORKER_VARIABLE = 'TEST_PARALLEL_INDEX';

/** Systems take the ports of outgoing connections from above (Linux: from 32768, others: from 49152). */
const LOWEST = 20_000;
const PORTS_OF_A_WORKER = 1_000;

/** Their servers may not have started yet, or may have stopped for a moment. */
const given = new Set<number>();

/** A port that no outgoing connection or other test can take while its server is stopped or not yet started. */
export async function freePort(): Promise<number> {
  const first = LOWEST + Number(process.env[WORKER_VARIABLE] ?? 0) * PORTS_OF_A_WORKER;
  for (;;) {
    const port = randomInt(first, first + PORTS_OF_A_WORKER);
    if (given.has(port)) continue;
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      if (given.has(port)) continue;
      given.add(port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    } finally {
      server.close();
    }
  }
}
