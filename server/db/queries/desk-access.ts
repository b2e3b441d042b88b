import type { Db } from '#server/db/engine/connect.ts';
import { sessionsOf } from '#server/db/tables/desk-sessions.ts';

const TABLES = ['desk_sessions', 'desk_sign_ins', 'desk_passkeys'] as const;

export type DeletedAccess = Readonly<Record<(typeof TABLES)[number], number>>;

export async function deleteDeskAccess(db: Db, except: readonly string[] = []): Promise<DeletedAccess> {
  const deleted = { desk_sessions: 0, desk_sign_ins: 0, desk_passkeys: 0 };
  for (const table of TABLES) {
    const { numDeletedRows } = await db
      .deleteFrom(table)
      .$if(except.length > 0, (query) => query.where('email', 'not in', except))
      .executeTakeFirstOrThrow();
    deleted[table] = Number(numDeletedRows);
  }
  return deleted;
}

/** Passkeys stay. @returns number of unexpired sessions */
export async function endSessionsOf(
  db: Db,
  { email, now }: { readonly email: string; readonly now: number },
): Promise<number> {
  const open = await sessionsOf(db, { email, now });
  await db.deleteFrom('desk_sessions').where('email', '=', email).execute();
  await db.deleteFrom('desk_sign_ins').where('email', '=', email).execute();
  return open.length;
}
