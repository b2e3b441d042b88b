// What is done after each answer: it is logged, measured, and counted if it was the page.
import type { IncomingMessage } from 'node:http';

import type { FastifyInstance } from 'fastify';

import { API } from '#shared/api.ts';

export type Answered = {
  readonly method: string;
  /** The route's pattern, never an address that a stranger made up. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
};

/** Logs and measures all that Fastify answers, and counts the page. What is answered before Fastify is not logged (static-files.ts). */
export function noteAnswers(
  app: FastifyInstance,
  {
    onAnswered,
    onPageSeen,
    fileAt,
  }: {
    onAnswered: (answered: Answered) => void;
    onPageSeen: (request: IncomingMessage) => void;
    /** The address of a page or file; null when there is none. */
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

/** @returns whether the answer is the page, or that it is unchanged */
export const isPage = ({ method, route, status }: Omit<Answered, 'ms'>): boolean =>
  route === '/' && method === 'GET' && (status === 200 || status === 304);

/**
 * The page and its files are counted, not logged: thousands of such lines would hide those that say something. The same goes for
 * funnel steps, which any stranger may post at any time, and for a monitor's probe that finds all well.
 */
function isLogged(route: string, status: number): boolean {
  if (route === API.funnel) return status >= 500;
  return status >= 400 || (route.startsWith('/api/') && route !== API.live && route !== API.health);
}
