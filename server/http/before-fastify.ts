// Nearly every request is for the page or one of its files, and needs nothing that Fastify does. It is answered before Fastify,
// by the functions that answer it there; whatever is unusual about a request goes on to Fastify, which knows every rule.
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FastifyInstance } from 'fastify';
import '@fastify/under-pressure';

import type { HeaderList } from '#server/http/header-list.ts';
import { namesItsHost } from '#server/http/host.ts';
import { answerFor, type Resource } from '#server/http/send-resource.ts';

type Parts = {
  /** By their addresses. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** A longer address is unusual. */
  readonly urlMaxLength: number;
  /** What every answer says of itself alone. */
  readonly ownHeaders: () => HeaderList;
  /** Told of each request that is answered here. */
  readonly onRequest: (headers: IncomingMessage['headers']) => void;
  /** Told of each answer, once it was given. */
  readonly onAnswer: (request: IncomingMessage, route: string, status: number) => void;
  readonly metrics: {
    readonly requestAnswered: (answer: {
      readonly method: string;
      readonly route: string;
      readonly status: number;
      readonly ms: number;
    }) => void;
  };
};

/** Puts the resources before Fastify. To be called before anybody else listens to the server's requests. */
export function answerBeforeFastify(
  app: FastifyInstance,
  { resources, urlMaxLength, ownHeaders, onRequest, onAnswer, metrics }: Parts,
): void {
  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => {
    if (!answer(request, response)) app.routing(request, response);
  });

  /** @returns whether it was answered; nothing was done otherwise */
  function answer(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request;
    if ((method !== 'GET' && method !== 'HEAD') || url.length > urlMaxLength || app.isUnderPressure())
      return false;
    const query = url.indexOf('?');
    const route = query === -1 ? url : url.slice(0, query);
    const resource = resources.get(route);
    if (resource === undefined) return false;
    if (!namesItsHost(request)) return false;
    const found = answerFor(request, resource);
    if (found.type === 'refusal') return false;
    const { status, headers, body } = found;
    const begun = performance.now();
    onRequest(request.headers);
    response.on('finish', () => {
      metrics.requestAnswered({ method, route, status, ms: performance.now() - begun });
    });
    response.writeHead(status, [...headers, ...ownHeaders()]).end(method === 'GET' ? body : undefined);
    onAnswer(request, route, status);
    return true;
  }
}
