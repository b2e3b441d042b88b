// `npm run dev` starts the API first, because its start takes longest.
import { createServer, type AddressInfo } from 'node:net';
import * as module from 'node:module';
import path from 'node:path';

const HOST = '127.0.0.1';
const port = Number(process.env['PORT'] ?? 5173);

function tryPort(wanted: number): Promise<number | null> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(null));
    probe.listen(wanted, HOST, () => {
      const { port: found } = probe.address() as AddressInfo;
      probe.close(() => resolve(found));
    });
  });
}

const apiPort = await tryPort(0);
if ((await tryPort(port)) === null || apiPort === null) {
  process.stderr.write(
    `Port ${port} is in use, perhaps by another "npm run dev". Stop that program, or choose another port: PORT=${port + 1} npm run dev\n`,
  );
  process.exit(1);
}
const cache = path.resolve(import.meta.dirname, '..', 'node_modules', '.cache', 'compiled');
if (process.env['NODE_DISABLE_COMPILE_CACHE'] === undefined) {
  module.enableCompileCache(cache);
  process.env['NODE_COMPILE_CACHE'] = cache;
}
const { startApi } = await import('#build/dev-api-process.ts');
const api = startApi({ host: HOST, port: apiPort, publicUrl: `http://${HOST}:${port}` });
const { serve } = await import('#build/dev-server.ts');
await serve({ api, host: HOST, port });
