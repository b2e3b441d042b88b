// The desk in a browser: sign-ins that wait for their code, sessions, and the record of who did what.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('desk_sign_ins')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('browser_id', 'text', (column) => column.notNull())
    .addColumn('address_key', 'text', (column) => column.notNull())
    .addColumn('email', 'text')
    .addColumn('secret_id', 'text', (column) => column.notNull())
    .addColumn('wrong_tries', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('mailed_at', 'bigint')
    .addColumn('used_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('desk_sign_ins_by_browser')
    .on('desk_sign_ins')
    .columns(['browser_id', 'created_at'])
    .execute();
  await db.schema
    .createIndex('desk_sign_ins_to_mail')
    .on('desk_sign_ins')
    .column('id')
    .where(sql<boolean>`mailed_at is null and email is not null`)
    .execute();
  await db.schema
    .createTable('desk_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('begun_at', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addColumn('client_address', 'text', (column) => column.notNull())
    .addColumn('browser', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('desk_passkeys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint')
    .execute();
  await db.schema.createIndex('desk_passkeys_by_email').on('desk_passkeys').column('email').execute();
  await db.schema
    .createTable('desk_log')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('who', 'text', (column) => column.notNull())
    .addColumn('deed', 'text', (column) => column.notNull())
    .addColumn('about', 'text')
    .addColumn('details', 'text', (column) => column.notNull())
    .addColumn('client_address', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('desk_log_by_about')
    .on('desk_log')
    .column('about')
    .where(sql<boolean>`about is not null`)
    .execute();
}
