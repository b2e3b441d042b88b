import type { FastifyInstance } from 'fastify';

import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { type WriteFault, writeFaultOf } from '#server/db/engine/outages.ts';
import { createWriteCheck, pingDatabase } from '#server/db/health.ts';
import { mailStandsStill, refusesEverybody } from '#server/db/tables/outbox.ts';
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
  readonly isLeaving: () => boolean;
  readonly sendError: SendError;
};

/** `GET /api/live`: 200 even while the process is stopping or shedding load, because a restart would not help. */
export function addLiveRoute(app: FastifyInstance): void {
  app.get(API.live, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
}

/**
 * `GET /api/health`: 503 if the database is unreachable or not writable, its file is gone, mail is stuck, refused or too slow,
 * or the process is stopping. Its sentences are always in English.
 */
export function addHealthRoute(
  app: FastifyInstance,
  { database, config, clock, isLeaving, sendError }: HealthParts,
): void {
  const findWriteFault = createWriteCheck(database, clock);
  app.get(API.health, async (request, reply) => {
    const sick = (sentence: string) =>
      sendError(reply, 'unavailable', { sentence, retryAfterSeconds: RETRY_AFTER_SECONDS });
    if (isLeaving()) return sick('This process is stopping.');
    try {
      if ((await pingDatabase(database)) === 'file lost') {
        request.log.error('The database file was deleted or replaced.');
        return sick(FILE_LOST);
      }
      const fault = await findWriteFault();
      if (fault !== null) return sick(WRITE_FAULTS[database.engine][fault]);
      if (await refusesEverybody(database.db, clock()))
        return sick(
          'The mail server refuses all our mail. Read its replies with "desk lost", and check SMTP_URL, MAIL_FROM and your account with the provider.',
        );
      if (await mailStandsStill(database.db, { now: clock(), forMs: STUCK_AFTER_MS }))
        return sick('No mail has been sent for more than two minutes. Check SMTP_URL and your mail account.');
      const { codeTtlSeconds } = config;
      const mail = await stateOfMail(database.db, { now: clock(), codeTtlSeconds });
      if (mail === 'still')
        return sick('Mail is not being sent, so forms are refused. Check SMTP_URL and your mail account.');
      if (mail === 'behind')
        return sick(
          'Mail is being sent more slowly than forms arrive, so forms are refused until the queue is shorter.',
        );
    } catch (error) {
      request.log.error({ err: error }, 'The database is not responding.');
      const fault = writeFaultOf(error);
      if (fault !== null) return sick(WRITE_FAULTS[database.engine][fault]);
      return sick('The database is not responding.');
    }
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
}

export const WRITE_FAULTS: Readonly<Record<OpenDatabase['engine'], Readonly<Record<WriteFault, string>>>> = {
  sqlite: {
    full: 'The disk of the database is full, so forms are refused. Free some space. You do not need to restart.',
    'read-only':
      'The database file is not writable, so forms are refused. Check whether the file system has become read-only (dmesg) or the file belongs to another user.',
    'disk fails':
      'The database file cannot be written (an I/O error), so forms are refused. Check whether the file system has become read-only, and read the kernel log (dmesg).',
    damaged:
      'The database file is damaged, so forms are refused. Stop the site, keep the file, and restore the newest backup.',
    locked:
      'Another program has locked the database file, so forms are refused. Find that program (fuser FILE), and stop it.',
    late: 'The database takes too long to write, so forms are refused. Check the load of the disk.',
  },
  postgres: {
    full: 'The disk of PostgreSQL is full, so forms are refused. Free some space there. You do not need to restart the site.',
    'read-only':
      'PostgreSQL is read-only, so forms are refused. Name the primary server in DATABASE_URL, or make this server writable.',
    'disk fails':
      'The disk of PostgreSQL is failing, so forms are refused. Check the log of PostgreSQL, and keep a backup ready.',
    damaged:
      'PostgreSQL reports damaged files, so forms are refused. Check the log of PostgreSQL, and keep a backup ready.',
    locked:
      'A table of PostgreSQL is locked, so forms are refused. Find the session that holds the lock (pg_stat_activity).',
    late: 'PostgreSQL does not confirm writes in time, so forms are refused. Check whether its standby server is unreachable or a table is locked (pg_stat_activity).',
  },
};
