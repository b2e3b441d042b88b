// A challenge: one browser's claim to one e-mail address, in a row with what was typed into the form (submissions). A form opens it, and
// it is closed when a code is entered or expires. Its attempts are its own, so no stranger can use them up.
import type { Selectable } from 'kysely';

import { columnsOf } from '#server/db/all-tables.ts';
import type { Db } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { isListed, type ListedAddress } from '#server/db/tables/suppressions.ts';

export type Challenge = Selectable<Schema['submissions']>;

/** Whether a code was mailed for this challenge. If not, it shares another challenge's code, and that one's attempts. */
export const hasCodeOfItsOwn = (challenge: Challenge | undefined): challenge is Challenge =>
  challenge !== undefined && challenge.codes_sent > 0;

type OfBrowser = { readonly browserId: string; readonly now: number };

/** The challenges of a browser that have not expired, newest first. */
const unexpired = (db: Db, { browserId, now }: OfBrowser) =>
  db
    .selectFrom('submissions')
    .where('browser_id', '=', browserId)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);

/** The newest challenge of a browser that is open or verified, with an ID or for an e-mail address if given. */
export const findChallenge = (
  db: Db,
  state: 'open' | 'verified',
  { id, email, ...of }: OfBrowser & { readonly id?: string | undefined; readonly email?: string },
): Promise<Challenge | undefined> =>
  unexpired(db, of)
    .select(columnsOf('submissions'))
    .where('verified_at', state === 'open' ? 'is' : 'is not', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .$if(email !== undefined, (query) => query.where('email', '=', email!))
    .executeTakeFirst();

/** A challenge by its ID. */
export const findChallengeById = (db: Db, id: string): Promise<Challenge | undefined> =>
  db.selectFrom('submissions').select(columnsOf('submissions')).where('id', '=', id).executeTakeFirst();

export async function insertChallenge(
  tx: Db,
  challenge: Omit<Challenge, 'wrong_attempts' | 'verified_at'>,
): Promise<void> {
  await tx.insertInto('submissions').values(challenge).execute();
}

/** What changes when the form of an open challenge is sent again. */
type SentAgain = Pick<
  Challenge,
  | 'name'
  | 'company'
  | 'answers'
  | 'email_typed'
  | 'consent_version'
  | 'client_address'
  | 'user_agent'
  | 'given_at'
  | 'asked_at'
  | 'codes_sent'
  | 'expires_at'
>;

/** Stores that the form was sent again, and whether another code was mailed. Wrong attempts stay. */
export async function updateChallenge(tx: Db, id: string, sent: SentAgain): Promise<void> {
  await tx.updateTable('submissions').set(sent).where('id', '=', id).execute();
}

/** Extends challenges that wait for a code: its own, and those opened since then that share it. */
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
        eb.and([eb('codes_sent', '=', 0), eb('created_at', '>=', code.created_at)]),
      ]),
    )
    .execute();
}

/**
 * Counts an attempt, in one statement: of however many that arrive at once, no more than the limit are counted.
 * @param most attempts that a row has; 0: no limit
 */
const countingAttempt = (tx: Db, table: 'submissions' | 'desk_sign_ins', most: number) =>
  tx
    // The columns in use are the same.
    .updateTable(table as 'submissions')
    .set((eb) => ({ wrong_attempts: eb('wrong_attempts', '+', 1) }))
    .$if(most > 0, (query) => query.where('wrong_attempts', '<', most));

/**
 * Counts an attempt at the open challenge of a browser.
 * @returns the challenge, this attempt included; undefined if there is none with a code of its own, or without attempts
 */
export const countAttempt = (
  tx: Db,
  { email, most, ...of }: OfBrowser & { readonly email: string; readonly most: number },
): Promise<Challenge | undefined> => {
  const open = unexpired(tx, of).select('id').where('email', '=', email).where('verified_at', 'is', null);
  return (
    countingAttempt(tx, 'submissions', most)
      .where('id', '=', open)
      .where('codes_sent', '>', 0)
      // Another tab may have verified it since it was looked up.
      .where('verified_at', 'is', null)
      .returning(columnsOf('submissions'))
      .executeTakeFirst()
  );
};

/** Counts an attempt at a verified challenge or at a sign-in of the desk. @returns whether there was one left */
export async function countAttemptAt(
  tx: Db,
  table: 'submissions' | 'desk_sign_ins',
  { id, most }: { readonly id: string; readonly most: number },
): Promise<boolean> {
  const { numUpdatedRows } = await countingAttempt(tx, table, most)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Gives back an attempt whose code was right. */
export async function giveAttemptBack(tx: Db, id: string): Promise<void> {
  await tx
    .updateTable('submissions')
    .set((eb) => ({ wrong_attempts: eb('wrong_attempts', '-', 1) }))
    .where('id', '=', id)
    .where('wrong_attempts', '>', 0)
    .execute();
}

/** Ends a challenge without attempts; a new one takes its place. */
export async function endChallenge(tx: Db, id: string, now: number): Promise<void> {
  await tx
    .updateTable('submissions')
    .set({ expires_at: now })
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .execute();
}

/**
 * Closes a challenge: a code was entered for it.
 * @param attempts number of attempts to give back: the right one, if it was counted for this challenge
 * @param of its e-mail address, as the list of suppressions knows it
 * @returns the challenge; undefined if it is closed already, or was erased
 */
export const closeChallenge = (
  tx: Db,
  { id, attempts, of }: { readonly id: string; readonly attempts: 0 | 1; readonly of: ListedAddress },
  now: number,
): Promise<(Challenge & { readonly is_suppressed: boolean }) | undefined> =>
  tx
    .updateTable('submissions')
    .set((eb) => ({ verified_at: now, wrong_attempts: eb('wrong_attempts', '-', attempts) }))
    .where('id', '=', id)
    .where('verified_at', 'is', null)
    .returning([...columnsOf('submissions'), isListed(of).as('is_suppressed')])
    .executeTakeFirst();
