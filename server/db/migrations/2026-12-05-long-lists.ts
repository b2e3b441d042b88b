// Indexes for what grows long: what a browser asked for, webhook events that wait, and the list of addresses that get no mail.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // In place of one by the time of the request: a stranger may have had thousands, of which few can still be answered. The drop comes first,
  // because its lock is the stronger one: to ask for it with the other in hand ends in a deadlock with a visitor who reads and then writes.
  await db.schema.dropIndex('challenges_by_browser').execute();
  await db.schema
    .createIndex('challenges_of_browser')
    .on('challenges')
    .columns(['browser_id', 'expires_at'])
    .execute();
  await db.schema
    .createIndex('webhook_events_queued')
    .on('webhook_events')
    .column('id')
    .where(sql<boolean>`state = 'queued'`)
    .execute();
  await db.schema
    .createIndex('suppressions_newest')
    .on('suppressions')
    .columns(['created_at desc', 'address_key', 'reason'])
    .execute();
}
