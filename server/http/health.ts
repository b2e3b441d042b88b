import type { FastifyInstance } from 'fastify';

import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { type WriteFault, writeFaultOf } from '#server/db/engine/outages.ts';
import { createWriteCheck, pingDatabase } from '#server/db/health.ts';
import { isMailStuck, refusesEverybody } from '#server/db/tables/outbox.ts';
import type { SendError } from '#server/http/errors.ts';
import { stateOfMail } from '#server/jobs/mail-jobs.ts';
import type { Config } from '#server/settings/settings.ts';
import { API } from '#shared/api.ts';

const RETRY_AFTER_SECONDS = 5;
const FILE_LOST =
  'The database file was deleted or replaced under the running server. Do not restart yet: see "What do I do when something breaks?" in docs/running.md.';

const STUCK_AFTER_MS = 120_000;

export type HealthParts = {
  readonly database: OpenDatabase;
  readonly config: Pick<Config, 'codeTtlSeconds'>;
  readonly clock: () => number;
  readonly isStopping: () => boolean;
  readonly sendError: SendError;
};

/** `GET /api/live`: 200 even while the process stops or sheds load, because a restart would not help. */
export function addLiveRoute(app: FastifyInstance): void {
  app.get(API.live, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
}

/**
 * `GET /api/health`: 503 if the database is unreachable or not writable, its file is gone, mail is stuck, refused or too slow,
 * or the process is stopping. The reason is always in English.
 */
export function addHealthRoute(
  app: FastifyInstance,
  { database, config, clock, isStopping, sendError }: HealthParts,
): void {
  const findWriteFault = createWriteCheck(database, clock);
  app.get(API.health, async (request, reply) => {
    const unhealthy = (sentence: string) =>
      sendError(reply, 'unavailable', { sentence, retryAfterSeconds: RETRY_AFTER_SECONDS });
    if (isStopping()) return unhealthy('This process is stopping.');
    try {
      await pingDatabase(database.db);
      if (!database.isFileInPlace()) {
        request.log.error('The database file was deleted or replaced.');
        return unhealthy(FILE_LOST);
      }
      const fault = await findWriteFault();
      if (fault !== null) return unhealthy(describeWriteFault(database.engine, fault));
      if (await refusesEverybody(database.db, clock()))
        return unhealthy(
          'The mail server refuses all our mail. Read its replies with "desk lost", and check SMTP_URL, MAIL_FROM and your account with the provider.',
        );
      if (await isMailStuck(database.db, { now: clock(), durationMs: STUCK_AFTER_MS }))
        return unhealthy(
          'No mail has been sent for more than two minutes. Check SMTP_URL and your mail account.',
        );
      const { codeTtlSeconds } = config;
      const mail = await stateOfMail(database.db, { now: clock(), codeTtlSeconds });
      if (mail === 'stuck')
        return unhealthy(
          'Mail is not being sent, so forms are refused. Check SMTP_URL and your mail account.',
        );
      if (mail === 'behind')
        return unhealthy(
          'Mail is being sent more slowly than forms arrive, so forms are refused until the queue is shorter.',
        );
    } catch (error) {
      request.log.error({ err: error }, 'The database is not responding.');
      const fault = writeFaultOf(error);
      if (fault !== null) return unhealthy(describeWriteFault(database.engine, fault));
      return unhealthy('The database is not responding.');
    }
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
}

export function describeWriteFault(engine: OpenDatabase['engine'], fault: WriteFault): string {
  const isSqlite = engine === 'sqlite';
  if (fault === 'full')
    return `The disk of ${isSqlite ? 'the database' : 'PostgreSQL'} is full, so forms are refused. Free some space. You do not need to restart.`;
  return isSqlite
    ? `The database file cannot be written (${fault}), so forms are refused. Check the disk and its file system (dmesg), and other programs that use the file (fuser FILE).`
    : `PostgreSQL cannot be written (${fault}), so forms are refused. Check its log, its disk, its locks (pg_stat_activity), and whether DATABASE_URL names the primary server.`;
}
