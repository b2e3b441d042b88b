// A lock by e-mail address, held until the end of a transaction. SQLite has one writer at a time and needs none.
import { sql } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';

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
