import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { columnsOf, type Schema } from '#server/db/all-tables.ts';

export type DeskSession = Selectable<Schema['desk_sessions']>;

export async function insertSession(db: Db, session: DeskSession): Promise<void> {
  await db.insertInto('desk_sessions').values(session).execute();
}

/** @param now milliseconds since 1970 */
export const findSession = (
  db: Db,
  { id, now }: { id: string; now: number },
): Promise<DeskSession | undefined> =>
  db
    .selectFrom('desk_sessions')
    .select(columnsOf('desk_sessions'))
    .where('id', '=', id)
    .where('ends_at', '>', now)
    .executeTakeFirst();

export const sessionsOf = (db: Db, { email, now }: { email: string; now: number }): Promise<DeskSession[]> =>
  db
    .selectFrom('desk_sessions')
    .select(columnsOf('desk_sessions'))
    .where('email', '=', email)
    .where('ends_at', '>', now)
    .orderBy('id', 'desc')
    .execute();

/** @returns false if they have no such session */
export async function deleteSession(db: Db, { id, email }: { id: string; email: string }): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('desk_sessions')
    .where('id', '=', id)
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
