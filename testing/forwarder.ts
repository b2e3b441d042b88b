// Forwards TCP connections to servers, like a load balancer or a managed service with one URL. It knows no protocol, so it hides no
// errors.
import { connect, createServer, type Socket } from 'node:net';

import { listening, type Listening } from '#testing/listening.ts';

export type Forwarder = Listening & {
  /** New connections go to this server. */
  readonly forwardTo: (port: number) => void;
  /** No more bytes pass, on open connections and on new ones. */
  readonly stall: () => void;
};

/** Each connection goes to the next port that accepts it. */
export async function startForwarder(...ports: readonly number[]): Promise<Forwarder> {
  let [targets, turn, isStalled] = [ports, 0, false];
  const sockets = new Set<Socket>();
  const connectToBackend = (client: Socket, attemptsLeft: number): void => {
    const backend = connect(targets[turn % targets.length] ?? 0, '127.0.0.1');
    turn += 1;
    let isConnected = false;
    backend.once('connect', () => {
      isConnected = true;
      sockets.add(client).add(backend);
      if (!isStalled) client.pipe(backend).pipe(client);
    });
    backend.on('error', () => {
      if (isConnected || attemptsLeft === 0) client.destroy();
      else connectToBackend(client, attemptsLeft - 1);
    });
    backend.on('close', () => {
      if (isConnected) client.end();
    });
    client.on('close', () => backend.destroy());
  };
  const server = createServer({ noDelay: true }, (client) => connectToBackend(client, targets.length * 2));
  return {
    ...(await listening(server)),
    forwardTo: (port) => {
      targets = [port];
    },
    stall: () => {
      isStalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}
