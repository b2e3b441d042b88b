// One URL for PostgreSQL, like a managed service. The server that it leads to can change or stop responding.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Endpoint = {
  readonly port: number;
  readonly leadTo: (port: number) => void;
  readonly fallSilent: () => void;
  readonly close: () => void;
};

export async function startEndpoint(port: number): Promise<Endpoint> {
  const sockets = new Set<Socket>();
  let [target, isSilent] = [port, false];
  const server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
    if (!isSilent) socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (other) => {
      target = other;
    },
    fallSilent: () => {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
