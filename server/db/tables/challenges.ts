// One browser's claim to an address: opened by a request for a code, closed when the code is entered or expires.
import { sql, type ExpressionBuilder, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { columnsOf } from '#server/db/all-tables.ts';
import type { Schema } from '#server/db/schema.ts';

export type Challenge = Selectable<Schema['challenges']>;

/**
 * Whether a code was mailed for this challenge. If not, it shares the code of another challenge, and that one's tries.
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

/** The same for several addresses, locked in one order so that two transactions cannot deadlock. */
export async function lockAddresses(
  tx: Db,
  engine: OpenDatabase['engine'],
  emails: readonly string[],
): Promise<void> {
  if (engine === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtextextended(email, 0)) from unnest(${emails.toSorted()}::text[]) as email`.execute(
      tx,
    );
}

/** The open challenges of a browser, newest first. */
const openChallenges = (db: Db, browserId: string, now: number) =>
  db
    .selectFrom('challenges')
    .select(columnsOf('challenges'))
    .where('browser_id', '=', browserId)
    .where('expires_at', '>', now)
    .where('verified_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);

type OfBrowser = { readonly browserId: string; readonly now: number };

/** A challenge of a browser that can still be answered: the one with an id, or the newest if there is none. */
export async function findOpenChallenge(
  db: Db,
  { browserId, now, id }: OfBrowser & { readonly id?: string | undefined },
): Promise<Challenge | undefined> {
  return openChallenges(db, browserId, now)
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .executeTakeFirst();
}

/** The newest challenge of a browser for an e-mail address that can still be answered. */
export async function findOpenChallengeFor(
  db: Db,
  { browserId, now, email }: OfBrowser & { readonly email: string },
): Promise<Challenge | undefined> {
  return openChallenges(db, browserId, now).where('email', '=', email).executeTakeFirst();
}

/** The verified challenges of a browser that, as time goes, could still be open; the newest first. */
const verifiedChallenges = (db: Db, { browserId, now }: OfBrowser) =>
  db
    .selectFrom('challenges')
    .select(columnsOf('challenges'))
    .where('browser_id', '=', browserId)
    .where('expires_at', '>', now)
    .where('verified_at', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);

/** The newest challenge of a browser for an e-mail address that was verified and, as time goes, could still be open. */
export async function findVerifiedChallenge(
  db: Db,
  { email, ...of }: OfBrowser & { readonly email: string },
): Promise<Challenge | undefined> {
  return verifiedChallenges(db, of).where('email', '=', email).executeTakeFirst();
}

/** The same by its id. */
export async function findVerifiedChallengeById(
  db: Db,
  { id, ...of }: OfBrowser & { readonly id: string },
): Promise<Challenge | undefined> {
  return verifiedChallenges(db, of).where('id', '=', id).executeTakeFirst();
}

/** A challenge by its id. */
export async function findChallengeById(db: Db, id: string): Promise<Challenge | undefined> {
  return db.selectFrom('challenges').select(columnsOf('challenges')).where('id', '=', id).executeTakeFirst();
}

type NewChallenge = Pick<
  Challenge,
  'id' | 'browser_id' | 'email' | 'codes_sent' | 'created_at' | 'expires_at'
>;

export async function insertChallenge(db: Db, challenge: NewChallenge): Promise<void> {
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
  const row = await db
    .updateTable('challenges')
    .set((eb) => ({ wrong_tries: eb('wrong_tries', '+', 1) }))
    .where('id', '=', id)
    .$if(limit > 0, (query) => query.where('wrong_tries', '<', limit))
    .returning('wrong_tries')
    .executeTakeFirst();
  return row?.wrong_tries ?? null;
}

/** Uncounts a try that turned out right. */
export async function unburnTry(db: Db, id: string): Promise<void> {
  await db
    .updateTable('challenges')
    .set((eb) => ({ wrong_tries: eb('wrong_tries', '-', 1) }))
    .where('id', '=', id)
    .where('wrong_tries', '>', 0)
    .execute();
}

/** Ends a challenge that has no tries left; a new one takes its place. */
export async function endChallenge(db: Db, id: string, now: number): Promise<void> {
  await db
    .updateTable('challenges')
    .set({ expires_at: now })
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .execute();
}

/**
 * Closes a challenge: its code was entered.
 * @param tries number of counted tries to uncount: the right one, if it was counted for this challenge
 * @returns how many codes were mailed for it; null when it was closed already, and is not changed
 */
export async function closeChallenge(db: Db, id: string, tries: 0 | 1, now: number): Promise<number | null> {
  const row = await db
    .updateTable('challenges')
    .set((eb) => ({ verified_at: now, wrong_tries: eb('wrong_tries', '-', tries) }))
    .where('id', '=', id)
    .where('verified_at', 'is', null)
    .returning('codes_sent')
    .executeTakeFirst();
  return row?.codes_sent ?? null;
}
