// One browser's claim to an address: opened by asking for a code, closed by entering it or by time.
import { sql, type ExpressionBuilder, type Insertable, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/connect.ts';
import type { Schema } from '#server/db/schema.ts';

export type Challenge = Selectable<Schema['challenges']>;

/**
 * Whether a code was mailed for this challenge. If not, it rides on a code that another one asked for, and has no tries
 * of its own.
 */
export const hasCodeOfItsOwn = (challenge: Challenge | undefined): challenge is Challenge =>
  challenge !== undefined && challenge.codes_sent > 0;

/** The same in SQL, and the other way round. */
const ridesOnAnother = (eb: ExpressionBuilder<Schema, 'challenges'>) => eb('codes_sent', '=', 0);

/**
 * Makes others who ask for the same address wait until this transaction ends, so that counting and then sending
 * is one step. SQLite has one writer at a time anyway.
 */
export async function lockAddress(tx: Db, engine: OpenDatabase['engine'], email: string): Promise<void> {
  if (engine === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtextextended(${email}, 0))`.execute(tx);
}

/** The newest challenge of a browser that can still be answered, if wanted only the one with an id or for an e-mail. */
export async function findOpenChallenge(
  db: Db,
  { browserId, now, id, email }: { browserId: string; now: number; id?: string | undefined; email?: string },
): Promise<Challenge | undefined> {
  let query = db
    .selectFrom('challenges')
    .selectAll()
    .where('browser_id', '=', browserId)
    .where('expires_at', '>', now)
    .where('verified_at', 'is', null);
  if (id !== undefined) query = query.where('id', '=', id);
  if (email !== undefined) query = query.where('email', '=', email);
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst();
}

/** The newest challenge of a browser for an e-mail address that was verified and, as time goes, could still be open. */
export async function findVerifiedChallenge(
  db: Db,
  { browserId, email, now }: { browserId: string; email: string; now: number },
): Promise<Challenge | undefined> {
  return db
    .selectFrom('challenges')
    .selectAll()
    .where('browser_id', '=', browserId)
    .where('email', '=', email)
    .where('expires_at', '>', now)
    .where('verified_at', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** A challenge by its id. */
export async function findChallengeById(db: Db, id: string): Promise<Challenge | undefined> {
  return db.selectFrom('challenges').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function insertChallenge(db: Db, challenge: Insertable<Schema['challenges']>): Promise<void> {
  await db.insertInto('challenges').values(challenge).execute();
}

/** Notes that another code was mailed: the challenge lives as long as its newest code. Wrong tries stay. */
export async function addCodeToChallenge(db: Db, id: string, expiresAt: number): Promise<void> {
  await db
    .updateTable('challenges')
    .set((eb) => ({ codes_sent: eb('codes_sent', '+', 1), expires_at: expiresAt }))
    .where('id', '=', id)
    .execute();
}

/** Challenges that wait for a code live at least until then: its own, and those opened since that ride on it. */
export async function prolongChallenges(
  db: Db,
  code: { challenge_id: string; email: string; created_at: number },
  { expiresAt, now }: { expiresAt: number; now: number },
): Promise<void> {
  const shorter = db
    .updateTable('challenges')
    .set({ expires_at: expiresAt })
    .where('expires_at', '<', expiresAt)
    .where('expires_at', '>', now);
  await shorter.where('id', '=', code.challenge_id).execute();
  const riding = (eb: ExpressionBuilder<Schema, 'challenges'>) =>
    eb
      .selectFrom('submissions')
      .select('challenge_id')
      .where('submissions.email', '=', code.email)
      .where('submissions.created_at', '>=', code.created_at);
  await shorter
    .where(ridesOnAnother)
    .where((eb) => eb('id', 'in', riding(eb)))
    .execute();
}

/**
 * Counts a try BEFORE the code is compared, in one committed statement: however many arrive at once, no more than
 * the limit get past.
 * @param limit tries a challenge has; 0 lifts the limit
 * @returns how many tries are used, this one included; null when there is none left
 */
export async function burnTry(db: Db, id: string, limit: number): Promise<number | null> {
  let query = db
    .updateTable('challenges')
    .set((eb) => ({ wrong_tries: eb('wrong_tries', '+', 1) }))
    .where('id', '=', id);
  if (limit > 0) query = query.where('wrong_tries', '<', limit);
  const row = await query.returning('wrong_tries').executeTakeFirst();
  return row?.wrong_tries ?? null;
}

/** Takes a try back that turned out right. */
export async function unburnTry(db: Db, id: string): Promise<void> {
  await db
    .updateTable('challenges')
    .set((eb) => ({ wrong_tries: eb('wrong_tries', '-', 1) }))
    .where('id', '=', id)
    .where('wrong_tries', '>', 0)
    .execute();
}

/** Ends a challenge whose tries are used up: another one takes its place. */
export async function endChallenge(db: Db, id: string, now: number): Promise<void> {
  await db
    .updateTable('challenges')
    .set({ expires_at: now })
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .execute();
}

/** Closes a challenge: its code was entered. */
export async function closeChallenge(db: Db, id: string, now: number): Promise<void> {
  await db.updateTable('challenges').set({ verified_at: now }).where('id', '=', id).execute();
}
