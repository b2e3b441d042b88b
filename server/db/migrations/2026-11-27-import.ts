// People who come from a previous tool, and who runs the mail of a domain.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('imported_leads')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('company', 'text', (column) => column.notNull())
    .addColumn('consent_source', 'text', (column) => column.notNull())
    .addColumn('consent_given_at', 'bigint')
    .addColumn('file_name', 'text', (column) => column.notNull())
    .addColumn('imported_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('imported_corrections')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('imported_id', 'text', (column) =>
      column.notNull().references('imported_leads.id').onDelete('cascade'),
    )
    .addColumn('name_before', 'text', (column) => column.notNull())
    .addColumn('company_before', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('company', 'text', (column) => column.notNull())
    .addColumn('corrected_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('imported_corrections_by_imported')
    .on('imported_corrections')
    .column('imported_id')
    .execute();
  await db.schema
    .createTable('mail_domains')
    .addColumn('domain', 'text', (column) => column.primaryKey())
    .addColumn('platform', 'text', (column) => column.notNull())
    .addColumn('mx_host', 'text')
    .addColumn('looked_up_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('mail_domains_by_time').on('mail_domains').column('looked_up_at').execute();
}
