// Codes that sign a desk user in. What they share with visitors' codes is in codes.ts.
//
// Every typed e-mail address gets a row, so timing doesn't reveal who is in DESK_PEOPLE. If an address isn't listed there,
// its row has no e-mail address and accepts no code.
import type { NotNull, Selectable } from 'kysely';

import { columnsOf, type Schema } from '#server/db/all-tables.ts';
import type { Db } from '#server/db/engine/connect.ts';

export type DeskSignIn = Selectable<Schema['desk_sign_ins']>;

type NewSignIn = Omit<DeskSignIn, 'mailed_at' | 'used_at'>;

export async function insertSignIn(db: Db, signIn: NewSignIn): Promise<void> {
  await db.insertInto('desk_sign_ins').values(signIn).execute();
}

export const newestOpenSignIns = (
  db: Db,
  { browserId, limit, now }: { browserId: string; limit: number; now: number },
): Promise<DeskSignIn[]> =>
  db
    .selectFrom('desk_sign_ins')
    .select(columnsOf('desk_sign_ins'))
    .where('browser_id', '=', browserId)
    .where('expires_at', '>', now)
    .where('used_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

export const takeUnmailed = (tx: Db, now: number): Promise<(DeskSignIn & { readonly email: string })[]> =>
  tx
    .updateTable('desk_sign_ins')
    .set({ mailed_at: now })
    .where('mailed_at', 'is', null)
    .where('email', 'is not', null)
    .where('expires_at', '>', now)
    .returning(columnsOf('desk_sign_ins'))
    .$narrowType<{ email: NotNull }>()
    .execute();

export const findSignIn = (db: Db, id: string): Promise<DeskSignIn | undefined> =>
  db.selectFrom('desk_sign_ins').select(columnsOf('desk_sign_ins')).where('id', '=', id).executeTakeFirst();
