import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';

import { freshDatabase } from '#testing/databases.ts';

it('the error that made SQLite give up a transaction is the one that is thrown', async () => {
  const { db, close } = await freshDatabase('sqlite');
  try {
    const outage = Object.assign(new Error('disk I/O error'), { errcode: 778 });
    await assert.rejects(
      db.transaction().execute(async (tx) => {
        // What SQLite does by itself when a disk is full.
        await sql`rollback`.execute(tx);
        throw outage;
      }),
      outage,
    );
    // And the connection is as good as before.
    await db
      .transaction()
      .execute((tx) =>
        tx.insertInto('limit_windows').values({ key: 'x', started_at: 0, ends_at: 1, count: 1 }).execute(),
      );
  } finally {
    await close();
  }
});
