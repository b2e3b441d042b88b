// Entries that the operator took off the list of addresses that get no mail because they were slips, each with its reason.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('suppression_removals')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('lead_id', 'text', (column) => column.notNull().references('leads.id').onDelete('cascade'))
    .addColumn('reasons', 'text', (column) => column.notNull())
    .addColumn('note', 'text', (column) => column.notNull())
    .addColumn('removed_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('suppression_removals_by_lead')
    .on('suppression_removals')
    .column('lead_id')
    .execute();
}
