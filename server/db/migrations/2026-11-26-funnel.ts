// How often the page was seen, the form opened and the article read: counts by day, step and source, about nobody.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('funnel_counts')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('step', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('funnel_counts_pkey', ['day', 'step', 'source'])
    .execute();
}
