import { sql } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';

/** Until this transaction ends, so counting and sending is one step. SQLite has one writer at a time anyway. */
export async function lockAddress(tx: Db, engine: OpenDatabase['engine'], email: string): Promise<void> {
  if (engine === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtextextended(${email}, 0))`.execute(tx);
}

/** In one order, so two transactions cannot deadlock. */
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
