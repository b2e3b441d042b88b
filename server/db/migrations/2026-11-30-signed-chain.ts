// The head of the chain of consents is signed, and an erasure is an entry that names what it emptied.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('consent_chain').addColumn('erased_by', 'bigint').execute();
  await db.schema
    .createTable('consent_chain_head')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('signature', 'text', (column) => column.notNull())
    .addColumn('signed_at', 'bigint', (column) => column.notNull())
    .execute();
}
