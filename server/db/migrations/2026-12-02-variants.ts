// Which of several pages a visitor was given (variants/ of the campaign): beside the form and the lead, and counted by day and step.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Null for a campaign without variants, and for rows of the previous release, which does not know the column.
  for (const table of ['submissions', 'leads'])
    await db.schema.alterTable(table).addColumn('variant', 'text').execute();
  // A table for itself: the previous release adds to funnel_counts by its primary key, which can have no further column.
  await db.schema
    .createTable('variant_counts')
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('step', 'text', (column) => column.notNull())
    .addColumn('variant', 'text', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('variant_counts_pkey', ['day', 'step', 'variant'])
    .execute();
}
