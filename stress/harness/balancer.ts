// Sends each TCP connection to the next process that accepts it. It does not know HTTP, so it hides no errors from the visitor.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Balancer = { readonly url: string } & Disposable;

export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  let turn = 0;
  const open = new Set<Socket>();
  const join = (client: Socket, triesLeft: number): void => {
    const port = ports[turn % ports.length];
    turn += 1;
    if (port === undefined || triesLeft === 0) {
      client.destroy();
      return;
    }
    const backend = connect(port, '127.0.0.1');
    let connected = false;
    backend.once('connect', () => {
      connected = true;
      client.pipe(backend);
      backend.pipe(client);
    });
    backend.on('error', () => {
      if (connected) client.destroy();
      else join(client, triesLeft - 1);
    });
    backend.on('close', () => {
      if (connected) client.end();
    });
    client.on('error', () => backend.destroy());
    client.on('close', () => backend.destroy());
  };
  const server = createServer((client) => {
    open.add(client);
    client.once('close', () => open.delete(client));
    client.setNoDelay(true);
    join(client, ports.length * 2);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => {
      server.close();
      for (const client of open) client.destroy();
    },
  };
}
