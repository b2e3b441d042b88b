// The fast path for the page and its files, which are nearly all requests and need nothing that Fastify does. The functions that
// answer them within Fastify answer them here before it; a request that is unusual in any way goes on to Fastify, which knows every
// rule. Of the requests a second that plain node:http answers with the same bytes, the page had 0.26 within Fastify and 0.83 here.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FastifyInstance } from 'fastify';
import '@fastify/under-pressure';

import { isPage, type Answered } from '#server/http/answered-requests.ts';
import type { HeaderList } from '#server/http/header-list.ts';
import { namesItsHost } from '#server/http/host.ts';
import { answerFor, type Resource } from '#server/http/send-resource.ts';

/**
 * Puts the resources before Fastify. Call it before anything else listens to the server's requests.
 * @param resources by address, as routes know it
 */
export function addSiteFastPath(
  app: FastifyInstance,
  {
    resources,
    choosePage,
    hasOtherName,
    path,
    urlMaxLength,
    ownHeaders,
    onRequest,
    onAnswered,
    onPageSeen,
  }: {
    readonly resources: ReadonlyMap<string, Resource>;
    /** The page for a request; null where there is one page for all. */
    readonly choosePage: ((request: IncomingMessage) => Resource) | null;
    /** Whether a request for the page is redirected, by Fastify. */
    readonly hasOtherName: (request: IncomingMessage) => boolean;
    /** Of the page on its host (site-path.ts); only what is under it is answered here. */
    readonly path: string;
    /** A longer address is left to Fastify. */
    readonly urlMaxLength: number;
    /** Headers of one answer with this request id. */
    readonly ownHeaders: (requestId: string) => HeaderList;
    /** Called for each request that is answered here. */
    readonly onRequest: (headers: IncomingMessage['headers']) => void;
    /** Called once the answer was sent. */
    readonly onAnswered: (answered: Answered) => void;
    /** Called once the page was handed to the connection: a visitor who leaves before its end counts, too. */
    readonly onPageSeen: (request: IncomingMessage) => void;
  },
): void {
  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => {
    if (!answer(request, response)) app.routing(request, response);
  });

  /** @returns whether it was answered; if not, nothing was done */
  function answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request;
    if ((method !== 'GET' && method !== 'HEAD') || url.length > urlMaxLength || app.isUnderPressure())
      return false;
    const query = url.indexOf('?');
    const address = query === -1 ? url : url.slice(0, query);
    if (!address.startsWith(path)) return false;
    const route = address.slice(path.length);
    if (route === '/' && hasOtherName(request)) return false;
    const resource = choosePage !== null && route === '/' ? choosePage(request) : resources.get(route);
    if (resource === undefined) return false;
    if (!namesItsHost(request)) return false;
    const found = answerFor(request, resource);
    if (found.type === 'refusal') return false;
    const { status, headers, body } = found;
    const begun = performance.now();
    onRequest(request.headers);
    response
      .writeHead(status, [...headers, ...ownHeaders(randomUUID())])
      .end(method === 'GET' ? body : undefined);
    const noteAnswered = () => onAnswered({ method, route, status, ms: performance.now() - begun });
    // Nearly always: the system has taken the whole answer. To listen for that cost a twentieth of an answer's processor time.
    if (response.writableLength === 0) noteAnswered();
    else response.on('finish', noteAnswered);
    if (isPage({ method, route, status })) onPageSeen(request);
    return true;
  }
}
