// Sends outbox mail in the order of turns. Requests wake it and never wait for SMTP.
import { SMTP_CONNECTIONS, takeMail } from '#server/jobs/mail-jobs.ts';
import { startJobWorker, type JobWorker } from '#server/jobs/worker.ts';
import { createConnectionShares } from '#server/mail/outbox/connection-shares.ts';
import { deliverMail, type DeliveryParts } from '#server/mail/outbox/deliver-mail.ts';

/** Outlives the longest delivery. */
const LEASE_MS = 30_000;
const STOP_PATIENCE_MS = 5_000;

export type MailWorkerParts = DeliveryParts & {
  readonly onError: (error: unknown) => void;
};

export function startMailWorker(parts: MailWorkerParts): JobWorker {
  const { database, clock, onError } = parts;
  const shares = createConnectionShares(SMTP_CONNECTIONS, clock);
  return startJobWorker({
    database,
    table: 'outbox',
    clock,
    stopPatienceMs: STOP_PATIENCE_MS,
    take: async (lease) =>
      shares.free() < 1
        ? []
        : // One at a time, because each may fill a lane.
          takeMail(database, { ...lease, leaseMs: LEASE_MS, most: 1, fullLanes: shares.full() }),
    run: async (mail, worker) => {
      const end = shares.begin(mail);
      try {
        await deliverMail(parts, mail, worker);
      } finally {
        end();
      }
    },
    onError,
  });
}
