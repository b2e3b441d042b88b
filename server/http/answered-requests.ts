import type { IncomingMessage } from 'node:http';

import type { FastifyInstance } from 'fastify';

import { API } from '#shared/api.ts';

export type Answered = {
  readonly method: string;
  /** The route's pattern, never a URL that a stranger made up. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
};

export function noteAnswers(
  app: FastifyInstance,
  {
    onAnswered,
    onPageSeen,
    fileAt,
  }: {
    onAnswered: (answered: Answered) => void;
    onPageSeen: (request: IncomingMessage) => void;
    fileAt: (url: string) => string | null;
  },
): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const status = reply.statusCode;
    const route = request.routeOptions.url ?? fileAt(request.url) ?? 'unknown';
    if (isLogged(route, status))
      request.log.info({ method, route, status, ms: Math.round(reply.elapsedTime) });
    const answered = { method, route, status, ms: reply.elapsedTime };
    onAnswered(answered);
    if (isPage(answered)) onPageSeen(request.raw);
    done();
  });
}

export const isPage = ({ method, route, status }: Omit<Answered, 'ms'>): boolean =>
  route === '/' && method === 'GET' && (status === 200 || status === 304);

/**
 * Pages and files are counted but not logged: thousands of such lines would hide the useful ones. The same
 * holds for funnel steps and successful health checks.
 */
function isLogged(route: string, status: number): boolean {
  if (route === API.funnel) return status >= 500;
  return status >= 400 || (route.startsWith('/api/') && route !== API.live && route !== API.health);
}
