// Whether the database answers, and whether it is still the one that was opened.
import { sql } from 'kysely';

import type { OpenDatabase } from '#server/db/connect.ts';

/**
 * Asks the database something that costs nothing. Throws what it said when it does not answer.
 * @returns "file lost" when its file was deleted or replaced under the running process
 */
export async function pingDatabase({
  db,
  isFileOurs,
}: Pick<OpenDatabase, 'db' | 'isFileOurs'>): Promise<'well' | 'file lost'> {
  await sql`select 1`.execute(db);
  return isFileOurs() ? 'well' : 'file lost';
}
