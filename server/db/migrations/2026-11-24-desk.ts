// What the desk has to remember: which lead went out in which export, and what was corrected about a lead.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('exported_leads')
    .addColumn('lead_id', 'text', (column) => column.notNull().references('leads.id').onDelete('cascade'))
    .addColumn('export_name', 'text', (column) => column.notNull())
    .addColumn('exported_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('exported_leads_key', ['lead_id', 'export_name'])
    .execute();
  await db.schema
    .createTable('corrections')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('lead_id', 'text', (column) => column.notNull().references('leads.id').onDelete('cascade'))
    .addColumn('name_before', 'text', (column) => column.notNull())
    .addColumn('company_before', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('company', 'text', (column) => column.notNull())
    .addColumn('corrected_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('corrections_by_lead').on('corrections').column('lead_id').execute();
}
