// The ids of the secrets that a database was used with; codes know those of the past.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('known_secrets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('first_used_at', 'bigint', (column) => column.notNull())
    .execute();
  await sql`
    insert into known_secrets (id, first_used_at)
    select secret_id, min(created_at) from codes group by secret_id
  `.execute(db);
}
