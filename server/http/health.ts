// Whether this process can do its work, for load balancers and monitors.
import type { FastifyInstance } from 'fastify';

import type { OpenDatabase } from '#server/db/connect.ts';
import { pingDatabase } from '#server/db/health.ts';
import { findStandstill } from '#server/db/outbox.ts';
import type { SendError } from '#server/http/errors.ts';
import type { MailBacklog } from '#server/outbox/backlog.ts';
import { API } from '#shared/api.ts';

const RETRY_AFTER_SECONDS = 5;
const FILE_LOST =
  'The database file was deleted or replaced under the running server. Do not restart yet: see "When the database file is gone" in docs/operating.md.';

const STUCK_AFTER_MS = 120_000;

type HealthParts = {
  readonly database: OpenDatabase;
  readonly mailBacklog: MailBacklog;
  readonly clock: () => number;
  /** True once the process has been told to stop. */
  readonly isStopping: () => boolean;
  readonly sendError: SendError;
};

/** Adds `GET /api/live`: 200 as long as the process runs, also while it stops or sheds load; a restart would not help. */
export function addLiveRoute(app: FastifyInstance): void {
  app.get(API.live, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
}

/**
 * Adds `GET /api/health`: 200, or 503 when the database does not answer or its file is gone, mail is stuck or so slow that
 * forms are refused, or the process stops. Its sentences are for monitors and whoever runs the server: they are English in
 * every campaign.
 */
export function addHealthRoute(
  app: FastifyInstance,
  { database, mailBacklog, clock, isStopping, sendError }: HealthParts,
): void {
  app.get(API.health, async (request, reply) => {
    const sick = (sentence: string) =>
      sendError(reply, 'unavailable', { sentence, retryAfterSeconds: RETRY_AFTER_SECONDS });
    if (isStopping()) return sick('This process is stopping.');
    try {
      if ((await pingDatabase(database)) === 'file lost') {
        request.log.error('The database file is gone.');
        return sick(FILE_LOST);
      }
      const stuck = await findStandstill(database.db, { now: clock(), forMs: STUCK_AFTER_MS });
      if (stuck?.forEverybody) return sick('No mail has gone out for more than two minutes.');
      const backlog = await mailBacklog.state(database.db, clock());
      if (backlog === 'still') return sick('No mail goes out, so forms are refused.');
      if (backlog === 'behind')
        return sick('Mail goes out more slowly than forms come in, so forms are refused.');
    } catch (error) {
      request.log.error({ err: error }, 'The database does not answer.');
      return sick('The database does not answer.');
    }
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
}
