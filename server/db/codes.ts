// The codes that were mailed: when, for whom, and whether they were used. Never their digits.
import type { Selectable } from 'kysely';

import { prolongChallenges } from '#server/db/challenges.ts';
import type { Db } from '#server/db/connect.ts';
import { lowestIdAt } from '#server/db/ids.ts';
import type { Schema } from '#server/db/schema.ts';

export type Code = Selectable<Schema['codes']>;

/** A slow e-mail must not strand somebody who pressed Resend: the newest code and the one before it count. */
export const ACCEPTED_CODES = 2;

export async function insertCode(
  db: Db,
  code: {
    id: string;
    challengeId: string;
    email: string;
    clientAddress: string;
    secretId: string;
    now: number;
    expiresAt: number;
  },
): Promise<void> {
  await db
    .insertInto('codes')
    .values({
      id: code.id,
      challenge_id: code.challengeId,
      email: code.email,
      client_address: code.clientAddress,
      secret_id: code.secretId,
      created_at: code.now,
      expires_at: code.expiresAt,
    })
    .execute();
}

/** The newest code of a challenge, used or not. */
export async function newestCodeOfChallenge(db: Db, challengeId: string): Promise<Code | undefined> {
  return db
    .selectFrom('codes')
    .selectAll()
    .where('challenge_id', '=', challengeId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The newest live code that somebody at the same network address asked for, for the same e-mail address. */
export async function newestCodeFromAddress(
  db: Db,
  { email, clientAddress, now }: { email: string; clientAddress: string; now: number },
): Promise<Code | undefined> {
  return db
    .selectFrom('codes')
    .selectAll()
    .where('email', '=', email)
    .where('client_address', '=', clientAddress)
    .where('expires_at', '>', now)
    .where('used_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The codes a try is compared with: the two newest of the challenge, or of the address, that are still live. */
export async function acceptedCodes(
  db: Db,
  owner: { challengeId: string } | { email: string },
  now: number,
): Promise<Code[]> {
  const query = db.selectFrom('codes').selectAll().where('expires_at', '>', now).where('used_at', 'is', null);
  return (
    'challengeId' in owner
      ? query.where('challenge_id', '=', owner.challengeId)
      : query.where('email', '=', owner.email)
  )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(ACCEPTED_CODES)
    .execute();
}

/** When the newest codes were sent to an address, newest first; at most `count` of them. */
export async function newestSendTimes(db: Db, email: string, count: number): Promise<number[]> {
  const rows = await db
    .selectFrom('codes')
    .select('created_at')
    .where('email', '=', email)
    .orderBy('created_at', 'desc')
    .limit(count)
    .execute();
  return rows.map((row) => row.created_at);
}

/**
 * Marks every code of a challenge as used.
 * @returns false when the given code had been used already, by a call that was a moment faster
 */
export async function useCode(db: Db, code: Code, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('codes')
    .set({ used_at: now })
    .where('id', '=', code.id)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return false;
  await db
    .updateTable('codes')
    .set({ used_at: now })
    .where('challenge_id', '=', code.challenge_id)
    .where('used_at', 'is', null)
    .execute();
  return true;
}

/**
 * A code that waited for its mailing lives on, and with it its challenge, and those that ride on it. No life is shortened.
 */
export async function prolongCode(db: Db, code: Code, expiresAt: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('codes')
      .set({ expires_at: expiresAt })
      .where('id', '=', code.id)
      .where('expires_at', '<', expiresAt)
      .execute();
    await prolongChallenges(tx, code, expiresAt);
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
