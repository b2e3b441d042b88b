// Whether the database answers.
import { sql } from 'kysely';

import type { Db } from '#server/db/connect.ts';

/** Resolves when the database answers a query; throws what it said when it does not. */
export async function pingDatabase(db: Db): Promise<void> {
  await sql`select 1`.execute(db);
}
