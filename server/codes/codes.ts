// Visitors' codes. Their digits are never stored (digits.ts). Desk users have a separate table (desk-sign-ins.ts), whose codes
// are used and ended by the same functions.
import type { Selectable } from 'kysely';

import { prolongChallenges } from '#server/codes/challenges.ts';
import { columnsOf, type Schema } from '#server/db/all-tables.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { CLOCKS_DIFFER_MS } from '#server/platform/time.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import { hasChanged } from '#server/db/engine/row-counts.ts';

export type Code = Selectable<Schema['codes']>;

type CodeTable = 'codes' | 'desk_sign_ins';

export const isLive = (code: Pick<Code, 'expires_at' | 'used_at'>, now: number): boolean =>
  code.expires_at > now && code.used_at === null;

export async function issueCode(tx: Db, code: Omit<Code, 'used_at'>): Promise<void> {
  await tx.insertInto('codes').values(code).execute();
}

/**
 * Marks a code as used. The caller must end the challenge's other codes.
 * @returns false if another call has just used the code
 */
export async function markCodeUsed(tx: Db, table: CodeTable, id: string, now: number): Promise<boolean> {
  return hasChanged(
    tx.updateTable(table).set({ used_at: now }).where('id', '=', id).where('used_at', 'is', null),
  );
}

export async function endCodes(
  tx: Db,
  table: CodeTable,
  owner: { readonly submission_id: string } | { readonly browser_id: string; readonly address_key?: string },
  now: number,
): Promise<void> {
  await tx
    .updateTable(table)
    .set({ expires_at: now })
    .where((eb) => eb.and(owner))
    .where('expires_at', '>', now)
    .where('used_at', 'is', null)
    .execute();
}

const DEFAULT_LIMIT = 50;

/**
 * Returns the newest codes first, including used ones.
 * @param of emails: the e-mail address, and the pseudonyms under which its codes are kept after an erasure
 * @param options minLimit: used instead of the default limit if it is higher
 */
export async function newestCodesOf(
  db: Db,
  of: { readonly challengeId: string } | { readonly emails: readonly string[] },
  { unexpiredAt, minLimit = 0 }: { readonly unexpiredAt: number; readonly minLimit?: number },
  now: number,
): Promise<readonly Code[]> {
  const codes = await db
    .selectFrom('codes')
    .select(columnsOf('codes'))
    .where('expires_at', '>', unexpiredAt)
    .where((eb) => ('emails' in of ? eb('email', 'in', of.emails) : eb('submission_id', '=', of.challengeId)))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(Math.max(minLimit, DEFAULT_LIMIT))
    .execute();
  // Only the newest codes are accepted. Codes from the future come last; otherwise they would displace the code just mailed.
  return codes.toSorted((a, b) => Number(isFromFuture(a, now)) - Number(isFromFuture(b, now)));
}

/** True if the clock was set back after the code was created. */
export const isFromFuture = (code: Pick<Code, 'created_at'>, now: number): boolean =>
  code.created_at > now + CLOCKS_DIFFER_MS;

/** Extends a code's life for all challenges that share the code. Never shortens its life or revives a code. */
export async function prolongCode(
  db: Db,
  code: Code,
  { expiresAt, now }: { expiresAt: number; now: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Entering another code for this e-mail address updates the same rows in another order.
    await acquireLocks(tx, code.email);
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

export async function findCodeById(db: Db, id: string): Promise<Code | undefined> {
  return db.selectFrom('codes').select(columnsOf('codes')).where('id', '=', id).executeTakeFirst();
}

const newestInSpan = (db: Db, { from, to, limit }: { from: number; to: number; limit: number }) =>
  db
    .selectFrom('codes')
    .where('id', '>=', lowestIdAt(from))
    .where('id', '<', lowestIdAt(to))
    .orderBy('id', 'desc')
    .limit(limit);

export async function codeStatistics(
  db: Db,
  span: { from: number; to: number; limit: number },
): Promise<{ sent: number; entered: number }> {
  const row = await db
    .selectFrom(newestInSpan(db, span).select('used_at').as('newest'))
    .select((eb) => [eb.fn.countAll().as('sent'), eb.fn.count('newest.used_at').as('entered')])
    .executeTakeFirstOrThrow();
  return { sent: Number(row.sent), entered: Number(row.entered) };
}

export const newestCodes = (
  db: Db,
  span: { from: number; to: number; limit: number },
): Promise<Pick<Code, 'email' | 'client_address' | 'used_at'>[]> =>
  newestInSpan(db, span).select(['email', 'client_address', 'used_at']).execute();
