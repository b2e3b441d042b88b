// Whether this process can do its work, for load balancers and monitors.
import type { FastifyInstance } from 'fastify';

import type { Db } from '#server/db/connect.ts';
import { pingDatabase } from '#server/db/health.ts';
import { sendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';

const RETRY_AFTER_SECONDS = 5;

/** Adds `GET /api/health`: 200 when the database answers, else 503. */
export function addHealthRoute(app: FastifyInstance, db: Db): void {
  app.get(API.health, async (request, reply) => {
    try {
      await pingDatabase(db);
    } catch (error) {
      request.log.error({ err: error }, 'The database does not answer.');
      return sendError(reply, 'unavailable', {
        sentence: 'The database does not answer.',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
}
