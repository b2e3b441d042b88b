// The codes that were mailed: when, to whom, and whether they were entered; never their digits. A code is live until it expires or is
// entered.
import { sql, type Selectable } from 'kysely';

import {
  hasCodeOfItsOwn,
  lockAddress,
  prolongChallenges,
  type Challenge,
} from '#server/db/tables/challenges.ts';
import { CLOCKS_DIFFER_MS } from '#server/db/engine/clocks.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import { columnsOf } from '#server/db/all-tables.ts';
import type { Schema } from '#server/db/schema.ts';

export type Code = Selectable<Schema['codes']>;

type NewCode = Omit<Code, 'used_at'>;

export async function insertCode(db: Db, code: NewCode): Promise<void> {
  await db.insertInto('codes').values(code).execute();
}

/** Whether a code can still be entered. */
export const isLive = (code: Code, now: number): boolean => code.expires_at > now && code.used_at === null;

/** A challenge, if there is one, and the e-mail address it is for. */
type Claim = { readonly challenge: Challenge | undefined; readonly email: string };

/**
 * The one code that answers a challenge: its own newest, live or not; without one of its own, what a visitor at the same network
 * address asked for.
 * @param ofSameClient {@link liveCodeFromAddress}
 */
export async function codeThatAnswers(
  db: Db,
  challenge: Challenge | undefined,
  ofSameClient: Code | undefined,
  now: number,
): Promise<Code | undefined> {
  if (!hasCodeOfItsOwn(challenge)) return ofSameClient;
  const codes = await codesByTime(db).where('challenge_id', '=', challenge.id).execute();
  return newestFirst(codes, now)[0];
}

/** The newest live code of an e-mail address that a visitor at this network address asked for. */
export async function liveCodeFromAddress(
  db: Db,
  { email, clientAddress }: { readonly email: string; readonly clientAddress: string },
  now: number,
): Promise<Code | undefined> {
  const codes = await liveCodes(db, now)
    .where('email', '=', email)
    .where('client_address', '=', clientAddress)
    .execute();
  return newestFirst(codes, now)[0];
}

/**
 * The codes that a try is compared with: the newest live codes of the challenge, or of the address if the challenge has none.
 */
export async function acceptedCodes(
  db: Db,
  { challenge, email, most }: Claim & { readonly most: number },
  now: number,
): Promise<Code[]> {
  const live = liveCodes(db, now);
  const codes = await (
    hasCodeOfItsOwn(challenge)
      ? live.where('challenge_id', '=', challenge.id)
      : live.where('email', '=', email)
  ).execute();
  return newestFirst(codes, now).slice(0, most);
}

/**
 * The code that a challenge was verified with, until its life ends: the two were noted at the same time. Another browser may have entered
 * its own at that moment.
 */
export async function codeItWasVerifiedWith(
  db: Db,
  { id, email, verified_at: verifiedAt }: Challenge,
  now: number,
): Promise<Code | undefined> {
  return db
    .selectFrom('codes')
    .select(columnsOf('codes'))
    .where('email', '=', email)
    .where('used_at', '=', verifiedAt)
    .where('expires_at', '>', now)
    .orderBy(sql`challenge_id <> ${id}`)
    .limit(1)
    .executeTakeFirst();
}

/** More than the limits allow in a day. */
const MOST_LOOKED_AT = 50;

const codesByTime = (db: Db) =>
  db
    .selectFrom('codes')
    .select(columnsOf('codes'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_LOOKED_AT);

const liveCodes = (db: Db, now: number) =>
  codesByTime(db).where('expires_at', '>', now).where('used_at', 'is', null);

/**
 * After a clock was set back, codes made ahead of it come last: they are older, whatever they say.
 * @param codes in the order of their times, the newest first
 */
function newestFirst(codes: readonly Code[], now: number): Code[] {
  const isAhead = (code: Code) => code.created_at > now + CLOCKS_DIFFER_MS;
  return [...codes.filter((code) => !isAhead(code)), ...codes.filter(isAhead)];
}

/**
 * The newest codes of an address that were live at any time since then, newest first: when they were sent, and when they expire.
 * @param emails the address, and its pseudonyms
 * @param most maximum number of codes to return
 */
export async function codesAliveSince(
  db: Db,
  { emails, since, most }: { emails: readonly string[]; since: number; most: number },
  now: number,
): Promise<{ sentAt: number; endsAt: number }[]> {
  const ofOne = (email: string) =>
    db
      .selectFrom('codes')
      .select(['created_at', 'expires_at'])
      .where('email', '=', email)
      .where('expires_at', '>', since)
      .where('created_at', '<=', now + CLOCKS_DIFFER_MS)
      .orderBy('created_at', 'desc')
      .limit(most)
      .execute();
  return (await Promise.all(emails.map(ofOne)))
    .flat()
    .map((row) => ({ sentAt: row.created_at, endsAt: row.expires_at }))
    .toSorted((a, b) => b.sentAt - a.sentAt)
    .slice(0, most);
}

/**
 * Marks a code as entered. The caller also ends the other codes of its challenge.
 * @returns false when another call had just entered it
 */
export async function enterCode(tx: Db, code: Code, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('codes')
    .set({ used_at: now })
    .where('id', '=', code.id)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Makes a challenge's codes expire now, without marking them as entered. */
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
 * Extends the life of a code that waited to be mailed, of its challenge and of those that share the code. Shortens no life, and revives
 * none that has ended.
 */
export async function prolongCode(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  code: Code,
  { expiresAt, now }: { expiresAt: number; now: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Whoever enters another code of this address takes the same rows in another order.
    await lockAddress(tx, engine, code.email);
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
  return db.selectFrom('codes').select(columnsOf('codes')).where('id', '=', id).executeTakeFirst();
}

/**
 * How many codes were made in a span of time, and how many of them were entered. Ids begin with their time (UUID version
 * 7), so the primary key serves as the index.
 * @param most maximum number of codes to look at, the newest first, so that the query stays quick
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
 * @param most maximum number of codes to return, so that the query stays quick
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
