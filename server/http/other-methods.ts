// Answers a method that an address of the API does not take.
import type { FastifyInstance } from 'fastify';

import type { SendError } from '#server/http/errors.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Answers 405 with the methods that the address takes (RFC 9110, section 15.5.6). Call it after all routes were added. */
export function refuseOtherMethods(
  app: FastifyInstance,
  sendError: SendError,
  urls: readonly string[],
): void {
  for (const url of urls) {
    const allowed = METHODS.filter((method) => app.hasRoute({ method, url }));
    app.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url,
      // Before the body is read, which does not matter.
      onRequest: async (_request, reply) =>
        sendError(reply.header('allow', allowed.join(', ')), 'method-not-allowed'),
      handler: async (_request, reply) => sendError(reply, 'method-not-allowed'),
    });
  }
}
