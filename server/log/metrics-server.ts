// Serves metrics on a separate port, so the public port cannot expose them by mistake; also health and
// liveness, for when all public connections are in use.
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';

import type { FastifyInstance } from 'fastify';

import { API } from '#shared/api.ts';

const TEXT_TYPE = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

export type MetricsPage = { readonly contentType: string; readonly body: string };

export type Probed = Pick<FastifyInstance, 'inject'>;

export type MetricsServerOptions = {
  readonly port: number;
  readonly host: string;
  readonly isStopping?: () => boolean;
};

export type MetricsServer = {
  readonly port: number;
  readonly server: Server;
  readonly close: () => Promise<void>;
};

/** Resolves once it listens. */
export async function startMetricsServer(
  render: () => Promise<MetricsPage>,
  app: Probed,
  { port, host, isStopping = () => false }: MetricsServerOptions,
): Promise<MetricsServer> {
  const pages = new Map<string | undefined, (response: ServerResponse) => Promise<unknown>>(
    Object.entries({
      '/metrics': async (response) => {
        const { contentType, body } = await render();
        response.writeHead(200, { 'content-type': contentType }).end(body);
      },
      [API.live]: async (response) => response.writeHead(200, JSON_TYPE).end('{"status":"ok"}'),
      [API.health]: async (response) => {
        // A closing application rejects requests.
        const answer = await app.inject(API.health).catch(() => null);
        if (answer === null) response.writeHead(503, TEXT_TYPE).end('This process is stopping.');
        else response.writeHead(answer.statusCode, answer.headers).end(answer.rawPayload);
      },
    }),
  );
  const listener: RequestListener = (request, response) => {
    if (isStopping()) response.setHeader('connection', 'close');
    const page = request.method === 'GET' ? pages.get(request.url) : undefined;
    if (page === undefined) {
      const sentence = `The metrics are at /metrics; ${API.live} and ${API.health} are here too.\n`;
      response.writeHead(404, TEXT_TYPE).end(sentence);
      return;
    }
    page(response).catch(() => response.writeHead(500).end());
  };
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
