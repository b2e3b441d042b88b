// Mail is shared out by network and by recipient domain: whose mail it is, and when its turn comes.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('outbox').addColumn('network', 'text').execute();
  await db.schema.alterTable('outbox').addColumn('recipient_domain', 'text').execute();
  await db.schema
    .alterTable('outbox')
    .addColumn('turn_at', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  // What waits already has its turn in the order it had.
  await sql`update outbox set turn_at = due_at where state = 'queued'`.execute(db);

  const waiting = sql<boolean>`state = 'queued'`;
  const untried = sql<boolean>`state = 'queued' and attempts = 0`;
  await db.schema
    .createIndex('outbox_by_turn')
    .on('outbox')
    .columns(['turn_at', 'id'])
    .where(waiting)
    .execute();
  await db.schema
    .createIndex('outbox_untried_by_network')
    .on('outbox')
    .columns(['network', 'turn_at'])
    .where(untried)
    .execute();
  await db.schema
    .createIndex('outbox_untried_by_domain')
    .on('outbox')
    .columns(['recipient_domain', 'turn_at'])
    .where(untried)
    .execute();
  // The pace of the last minute is read from its end.
  await db.schema
    .createIndex('outbox_sent')
    .on('outbox')
    .columns(['finished_at'])
    .where(sql<boolean>`state = 'sent'`)
    .execute();
}
