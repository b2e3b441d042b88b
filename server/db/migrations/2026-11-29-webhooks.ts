// The events sent to other programs about leads, and when a lead was first given the article.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('leads').addColumn('first_read_at', 'bigint').execute();
  await db.schema
    .createTable('webhook_events')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('type', 'text', (column) => column.notNull())
    // No reference: the event that a lead was erased is sent after the lead has gone.
    .addColumn('lead_id', 'text', (column) => column.notNull())
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('payload', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull().defaultTo('queued'))
    .addColumn('attempts', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('leased_until', 'bigint')
    .addColumn('lease_id', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('queued_at', 'bigint', (column) => column.notNull())
    .addColumn('finished_at', 'bigint')
    .addColumn('answer', 'text')
    .execute();
  await db.schema
    .createIndex('webhook_events_due')
    .on('webhook_events')
    .columns(['endpoint', 'due_at'])
    .where(sql<boolean>`state = 'queued'`)
    .execute();
  await db.schema
    .createIndex('webhook_events_by_lead')
    .on('webhook_events')
    .columns(['lead_id', 'endpoint', 'position'])
    .execute();
  await db.schema
    .createIndex('webhook_events_dead')
    .on('webhook_events')
    .columns(['id'])
    .where(sql<boolean>`state = 'dead'`)
    .execute();
}
