// What has had its time is found by index, and the keys of limits hold no e-mail address any more.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('challenges_unverified_by_end')
    .on('challenges')
    .columns(['expires_at', 'id'])
    .where(sql<boolean>`verified_at is null`)
    .execute();
  await db.schema
    .createIndex('challenges_by_verification')
    .on('challenges')
    .columns(['verified_at'])
    .where(sql<boolean>`verified_at is not null`)
    .execute();
  // A search for everything about an address finds its mail of every kind.
  await sql`create index outbox_by_recipient on outbox (lower(recipient))`.execute(db);
  // Tries are counted under pseudonyms from now on. Those of the last day begin anew, this once.
  await sql`delete from limit_windows where key like 'tries %@%'`.execute(db);
}
