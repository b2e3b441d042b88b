// How a visitor's transaction mails a code: the one file here that knows the outbox.
import { v7 as uuid } from 'uuid';

import type { Code } from '#server/codes/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { findPlaceInQueue, laneOf } from '#server/db/tables/outbox.ts';
import { queueCodeMail } from '#server/mail/letters/code-mail.ts';
import type { OpenMail } from '#server/mail/mail.ts';
import { networkOf } from '#server/platform/network-of.ts';

/** What sends mail after the commit. */
export type CodeMail = Pick<OpenMail, 'sender' | 'backlog' | 'reserve' | 'wake'>;

export type CodePost = {
  /** Seconds until mail added then would arrive in time; 0: now. Call it before {@link add}. */
  readonly lateBySeconds: (tx: Db, now: number) => Promise<number>;
  /** Adds the mail with a code. */
  readonly add: (tx: Db, code: Code, now: number) => Promise<void>;
};

/**
 * Runs a transaction that may mail a code to a recipient, and has the mail sent after its commit.
 * @param clientAddress of the visitor who asks
 */
export async function withCodePost<Outcome>(
  db: Db,
  mail: CodeMail,
  { recipient, clientAddress }: { readonly recipient: string; readonly clientAddress: string },
  work: (tx: Db, post: CodePost) => Promise<Outcome>,
): Promise<Outcome> {
  const lane = laneOf(networkOf(clientAddress), recipient);
  using reservation = mail.reserve(lane);
  let queued: Awaited<ReturnType<typeof queueCodeMail>> | undefined;
  const post: CodePost = {
    lateBySeconds: async (tx, now) => {
      const verdict = await mail.backlog.admit(tx, lane, now);
      return verdict.type === 'too late' ? verdict.retryAfterSeconds : 0;
    },
    add: async (tx, code, now) => {
      const lease = reservation?.lease;
      const place =
        lease === undefined
          ? await findPlaceInQueue(tx, lane, { now, mostBehindMs: mail.backlog.mostBehindMs })
          : { ...lane, turnAt: now };
      queued = await queueCodeMail(tx, { id: uuid({ msecs: now }), code, recipient, place, lease, now });
    },
  };
  const outcome = await db.transaction().execute((tx) => work(tx, post));
  if (queued !== undefined) {
    if (reservation) reservation.deliver(queued);
    else mail.wake();
  }
  return outcome;
}
