// Proofs of consent, each holding the hash of the one before: none can be changed, taken out or put in without a trace.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('consent_chain')
    .addColumn('position', 'bigint', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    // No reference: its row may be erased, and its position stays.
    .addColumn('row_id', 'text', (column) => column.notNull())
    .addColumn('content', 'text')
    .addColumn('salt', 'text')
    .addColumn('content_hash', 'text', (column) => column.notNull())
    .addColumn('previous', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('sealed_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('consent_chain_row', ['row_id', 'kind'])
    .execute();
}
