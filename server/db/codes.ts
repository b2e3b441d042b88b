// The codes that were mailed: when, for whom, and whether they were entered. Never their digits. A code is live while its
// life has not ended and it was not entered.
import type { Insertable, Selectable } from 'kysely';

import { hasCodeOfItsOwn, prolongChallenges, type Challenge } from '#server/db/challenges.ts';
import { CLOCKS_DIFFER_MS } from '#server/db/clocks.ts';
import type { Db } from '#server/db/connect.ts';
import { lowestIdAt } from '#server/db/ids.ts';
import type { Schema } from '#server/db/schema.ts';

export type Code = Selectable<Schema['codes']>;

export async function insertCode(db: Db, code: Insertable<Schema['codes']>): Promise<void> {
  await db.insertInto('codes').values(code).execute();
}

/** Whether a code can still be entered. */
export const isLive = (code: Code, now: number): boolean => code.expires_at > now && code.used_at === null;

/** A challenge, if there is one, and the e-mail address it is for. */
type Claim = { readonly challenge: Challenge | undefined; readonly email: string };

/**
 * The one code that answers a challenge: the newest of its own, live or not, or else the newest live one that
 * somebody at the same network address asked for, for the same e-mail address.
 */
export async function codeThatAnswers(
  db: Db,
  { challenge, email, clientAddress }: Claim & { readonly clientAddress: string },
  now: number,
): Promise<Code | undefined> {
  const query = hasCodeOfItsOwn(challenge)
    ? codesByAge(db, now).where('challenge_id', '=', challenge.id)
    : newestLiveCodes(db, now).where('email', '=', email).where('client_address', '=', clientAddress);
  return query.limit(1).executeTakeFirst();
}

/**
 * The codes a try is compared with: so many of the newest live ones of a challenge that has its own, or else of the address.
 */
export async function acceptedCodes(
  db: Db,
  { challenge, email, most }: Claim & { readonly most: number },
  now: number,
): Promise<Code[]> {
  const query = newestLiveCodes(db, now);
  return (
    hasCodeOfItsOwn(challenge)
      ? query.where('challenge_id', '=', challenge.id)
      : query.where('email', '=', email)
  )
    .limit(most)
    .execute();
}

/** The code that a challenge was verified with, until its life ends: the two were noted at the same time. */
export async function codeItWasVerifiedWith(
  db: Db,
  { email, verified_at: verifiedAt }: Challenge,
  now: number,
): Promise<Code | undefined> {
  return db
    .selectFrom('codes')
    .selectAll()
    .where('email', '=', email)
    .where('used_at', '=', verifiedAt)
    .where('expires_at', '>', now)
    .limit(1)
    .executeTakeFirst();
}

/** Newest first; after a clock was set back, those made ahead of it come last: they are older, whatever they say. */
const codesByAge = (db: Db, now: number) =>
  db
    .selectFrom('codes')
    .selectAll()
    .orderBy((eb) =>
      eb
        .case()
        .when('created_at', '>', now + CLOCKS_DIFFER_MS)
        .then(eb.lit(1))
        .else(eb.lit(0))
        .end(),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');

const newestLiveCodes = (db: Db, now: number) =>
  codesByAge(db, now).where('expires_at', '>', now).where('used_at', 'is', null);

/**
 * The newest codes of an address that were live at some time since then, newest first: when they were sent, and when
 * their lives end.
 * @param emails the address, and its pseudonyms
 * @param most at most so many
 */
export async function codesAliveSince(
  db: Db,
  { emails, since, most }: { emails: readonly string[]; since: number; most: number },
  now: number,
): Promise<{ sentAt: number; endsAt: number }[]> {
  const rows = await db
    .selectFrom('codes')
    .select(['created_at', 'expires_at'])
    .where('email', 'in', emails)
    .where('expires_at', '>', since)
    .where('created_at', '<=', now + CLOCKS_DIFFER_MS)
    .orderBy('created_at', 'desc')
    .limit(most)
    .execute();
  return rows.map((row) => ({ sentAt: row.created_at, endsAt: row.expires_at }));
}

/**
 * Marks a code as entered, and ends the lives of its challenge's others.
 * @returns false when it had been entered already, by a call that was a moment faster
 */
export async function enterCode(tx: Db, code: Code, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('codes')
    .set({ used_at: now })
    .where('id', '=', code.id)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return false;
  await endCodes(tx, code.challenge_id, now);
  return true;
}

/** Ends the lives of a challenge's codes. They were not entered, and nothing says they were. */
export async function endCodes(db: Db, challengeId: string, now: number): Promise<void> {
  await db
    .updateTable('codes')
    .set({ expires_at: now })
    .where('challenge_id', '=', challengeId)
    .where('expires_at', '>', now)
    .where('used_at', 'is', null)
    .execute();
}

/**
 * A code that waited for its mailing lives on, and with it its challenge, and those that ride on it. No life is shortened,
 * and none that has ended begins anew.
 */
export async function prolongCode(
  db: Db,
  code: Code,
  { expiresAt, now }: { expiresAt: number; now: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('codes')
      .set({ expires_at: expiresAt })
      .where('id', '=', code.id)
      .where('expires_at', '<', expiresAt)
      .where('expires_at', '>', now)
      .where('used_at', 'is', null)
      .execute();
    await prolongChallenges(tx, code, { expiresAt, now });
  });
}

/** A code by its id. */
export async function findCodeById(db: Db, id: string): Promise<Code | undefined> {
  return db.selectFrom('codes').selectAll().where('id', '=', id).executeTakeFirst();
}

/**
 * How many codes were made in a span of time, and how many of them were entered. Ids begin with their time (UUID version
 * 7), so the primary key answers without an index of its own.
 * @param most looks at no more than so many, the newest first: the answer stays quick however many there are
 */
export async function codeStatistics(
  db: Db,
  { from, to, most }: { from: number; to: number; most: number },
): Promise<{ sent: number; entered: number }> {
  const row = await db
    .selectFrom(
      db
        .selectFrom('codes')
        .select('used_at')
        .where('id', '>=', lowestIdAt(from))
        .where('id', '<', lowestIdAt(to))
        .orderBy('id', 'desc')
        .limit(most)
        .as('newest'),
    )
    .select((eb) => [eb.fn.countAll().as('sent'), eb.fn.count('newest.used_at').as('entered')])
    .executeTakeFirstOrThrow();
  return { sent: Number(row.sent), entered: Number(row.entered) };
}

/**
 * The newest codes made in a span of time, newest first: for whom, from where, and whether they were entered.
 * @param most at most so many, so that the answer stays quick however many there are
 */
export async function newestCodes(
  db: Db,
  { from, to, most }: { from: number; to: number; most: number },
): Promise<Pick<Code, 'email' | 'client_address' | 'used_at'>[]> {
  return db
    .selectFrom('codes')
    .select(['email', 'client_address', 'used_at'])
    .where('id', '>=', lowestIdAt(from))
    .where('id', '<', lowestIdAt(to))
    .orderBy('id', 'desc')
    .limit(most)
    .execute();
}
