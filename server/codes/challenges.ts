// A challenge is one browser's claim to one e-mail address, stored with the submission. Each challenge has its own attempts,
// so a stranger cannot use up a visitor's.
// If the same IP address has just requested a code for the same e-mail address, another browser's challenge shares that code
// instead of getting its own. Then codes_sent is 0, and it uses the attempts that such browsers share (consumeAttempt in
// verify-code.ts).
// Sign-ins to the desk count attempts in the same way.
import type { Selectable, Updateable } from 'kysely';

import { columnsOf, type Schema } from '#server/db/all-tables.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { hasChanged } from '#server/db/engine/row-counts.ts';
import { isListed, type ListedAddress } from '#server/db/tables/suppressions.ts';

export type Challenge = Selectable<Schema['submissions']>;

export const hasCodeOfItsOwn = (challenge: Challenge | undefined): boolean =>
  challenge !== undefined && challenge.codes_sent > 0;

type BrowserQuery = { readonly browserId: string; readonly now: number };

const newestUnexpired = (db: Db, { browserId, now }: BrowserQuery) =>
  db
    .selectFrom('submissions')
    .where('browser_id', '=', browserId)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);

export const findChallenge = (
  db: Db,
  state: 'open' | 'verified',
  { id, email, ...browser }: BrowserQuery & { readonly id?: string | undefined; readonly email?: string },
): Promise<Challenge | undefined> =>
  newestUnexpired(db, browser)
    .select(columnsOf('submissions'))
    .where('verified_at', state === 'open' ? 'is' : 'is not', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .$if(email !== undefined, (query) => query.where('email', '=', email!))
    .executeTakeFirst();

export const findChallengeById = (db: Db, id: string): Promise<Challenge | undefined> =>
  db.selectFrom('submissions').select(columnsOf('submissions')).where('id', '=', id).executeTakeFirst();

export async function insertChallenge(
  tx: Db,
  challenge: Omit<Challenge, 'wrong_attempts' | 'verified_at'>,
): Promise<void> {
  await tx.insertInto('submissions').values(challenge).execute();
}

export async function updateChallenge(
  tx: Db,
  id: string,
  changes: Updateable<Schema['submissions']>,
): Promise<void> {
  await tx.updateTable('submissions').set(changes).where('id', '=', id).execute();
}

/** Extends the code's own challenge and those that share the code, so none ends before it. Revives no challenge. */
export async function prolongChallenges(
  tx: Db,
  code: { submission_id: string | null; email: string; created_at: number },
  { expiresAt, now }: { expiresAt: number; now: number },
): Promise<void> {
  await tx
    .updateTable('submissions')
    .set({ expires_at: expiresAt })
    .where('email', '=', code.email)
    .where('expires_at', '<', expiresAt)
    .where('expires_at', '>', now)
    .where((eb) =>
      eb.or([
        eb('id', '=', code.submission_id),
        // The database doesn't store which code a challenge shares, so all without a code are extended that asked later.
        eb.and([eb('codes_sent', '=', 0), eb('asked_at', '>=', code.created_at)]),
      ]),
    )
    .execute();
}

type AttemptLimit = {
  /** 0 means no limit. */
  readonly maxAttempts: number;
};

/** Uses one statement, so parallel attempts cannot exceed the limit. */
const attemptUpdate = (tx: Db, table: 'submissions' | 'desk_sign_ins', { maxAttempts }: AttemptLimit) =>
  tx
    .updateTable(table as 'submissions')
    .set((eb) => ({ wrong_attempts: eb('wrong_attempts', '+', 1) }))
    .$if(maxAttempts > 0, (query) => query.where('wrong_attempts', '<', maxAttempts));

/** @returns undefined if the browser has no open challenge with its own code and an attempt left */
export const consumeAttemptOfOwnCode = (
  tx: Db,
  { email, maxAttempts, ...browser }: BrowserQuery & AttemptLimit & { readonly email: string },
): Promise<Challenge | undefined> => {
  const open = newestUnexpired(tx, browser)
    .select('id')
    .where('email', '=', email)
    .where('verified_at', 'is', null);
  return (
    attemptUpdate(tx, 'submissions', { maxAttempts })
      .where('id', '=', open)
      .where('codes_sent', '>', 0)
      // Checked again, because on PostgreSQL another tab may complete it while this statement waits for the row.
      .where('verified_at', 'is', null)
      .returning(columnsOf('submissions'))
      .executeTakeFirst()
  );
};

/** @returns false if no attempt was left */
export async function consumeAttemptById(
  tx: Db,
  table: 'submissions' | 'desk_sign_ins',
  { id, maxAttempts }: AttemptLimit & { readonly id: string },
): Promise<boolean> {
  return hasChanged(attemptUpdate(tx, table, { maxAttempts }).where('id', '=', id));
}

export async function refundAttempt(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('submissions')
    .set((eb) => ({ wrong_attempts: eb('wrong_attempts', '-', 1) }))
    .where('id', '=', id)
    .where('wrong_attempts', '>', 0)
    .execute();
}

export async function endChallenge(tx: Db, id: string, now: number): Promise<void> {
  await tx
    .updateTable('submissions')
    .set({ expires_at: now })
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .execute();
}

/**
 * Marks a challenge as verified.
 * @param options attemptsToRefund: 1 if this challenge paid for the right code; suppressionKeys: find the suppressions
 * @returns undefined if completed or erased meanwhile
 */
export const completeChallenge = (
  tx: Db,
  {
    id,
    attemptsToRefund,
    suppressionKeys,
  }: { readonly id: string; readonly attemptsToRefund: 0 | 1; readonly suppressionKeys: ListedAddress },
  now: number,
): Promise<(Challenge & { readonly is_suppressed: boolean }) | undefined> =>
  tx
    .updateTable('submissions')
    .set((eb) => ({ verified_at: now, wrong_attempts: eb('wrong_attempts', '-', attemptsToRefund) }))
    .where('id', '=', id)
    .where('verified_at', 'is', null)
    .returning([...columnsOf('submissions'), isListed(suppressionKeys).as('is_suppressed')])
    .executeTakeFirst();
