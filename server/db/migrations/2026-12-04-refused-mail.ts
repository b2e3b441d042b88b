// Mail that was refused for good is found by index: it is rare, and the desk shows that of the last days.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('outbox_failed')
    .on('outbox')
    .columns(['finished_at'])
    .where(sql<boolean>`state = 'failed'`)
    .execute();
}
