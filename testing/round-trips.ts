// Counts the round trips to a PostgreSQL: how often it is sent something after it had answered.
import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';

export type CountedPostgres = {
  /** The address of the database, by way of the counter. */
  readonly url: string;
  /** Round trips on all connections since the last call. */
  readonly take: () => number;
  readonly close: () => void;
};

/** @param url of a database */
export async function countRoundTrips(url: string): Promise<CountedPostgres> {
  const target = new URL(url);
  let trips = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    let hasAnswered = true;
    client.on('data', (chunk) => {
      if (hasAnswered) trips += 1;
      hasAnswered = false;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      hasAnswered = true;
      client.write(chunk);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    take: () => {
      const taken = trips;
      trips = 0;
      return taken;
    },
    close: () => server.close(),
  };
}
