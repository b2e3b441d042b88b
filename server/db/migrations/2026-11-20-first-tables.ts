// The first tables. Written once, never edited after a release: a change is a new migration.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('consent_wordings')
    .addColumn('version', 'text', (column) => column.primaryKey())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('first_used_at', 'bigint', (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('challenges')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('browser_id', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('codes_sent', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('wrong_tries', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('verified_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('challenges_by_browser')
    .on('challenges')
    .columns(['browser_id', 'created_at'])
    .execute();

  await db.schema
    .createTable('submissions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('challenge_id', 'text', (column) => column.notNull().references('challenges.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('company', 'text', (column) => column.notNull())
    .addColumn('email_typed', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('consent_version', 'text', (column) => column.notNull().references('consent_wordings.version'))
    .addColumn('client_address', 'text', (column) => column.notNull())
    .addColumn('user_agent', 'text')
    .addColumn('attribution', 'text', (column) => column.notNull())
    .addColumn('flags', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('submissions_by_challenge')
    .on('submissions')
    .columns(['challenge_id', 'created_at'])
    .execute();
  await db.schema
    .createIndex('submissions_by_email')
    .on('submissions')
    .columns(['email', 'created_at'])
    .execute();

  await db.schema
    .createTable('codes')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('challenge_id', 'text', (column) => column.notNull().references('challenges.id'))
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('client_address', 'text', (column) => column.notNull())
    .addColumn('secret_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint')
    .execute();
  await db.schema.createIndex('codes_by_email').on('codes').columns(['email', 'created_at']).execute();
  await db.schema
    .createIndex('codes_by_challenge')
    .on('codes')
    .columns(['challenge_id', 'created_at'])
    .execute();

  await db.schema
    .createTable('outbox')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('code_id', 'text', (column) => column.references('codes.id'))
    .addColumn('notice', 'text')
    .addColumn('recipient', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull().defaultTo('queued'))
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addColumn('leased_until', 'bigint')
    .addColumn('lease_id', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('finished_at', 'bigint')
    .addColumn('reply', 'text')
    .addColumn('error_class', 'text')
    .execute();
  // Only waiting mail is indexed, so finding the next stays as quick with a million sent.
  await db.schema
    .createIndex('outbox_waiting')
    .on('outbox')
    .columns(['due_at'])
    .where(sql.ref('state'), '=', sql.lit('queued'))
    .execute();
  await db.schema.createIndex('outbox_by_code').on('outbox').column('code_id').execute();

  await db.schema
    .createTable('leads')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('company', 'text', (column) => column.notNull())
    .addColumn('first_verified_at', 'bigint', (column) => column.notNull())
    .addColumn('last_verified_at', 'bigint', (column) => column.notNull())
    .addColumn('attribution', 'text', (column) => column.notNull())
    .addColumn('flags', 'text', (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('consent_receipts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('lead_id', 'text', (column) => column.notNull().references('leads.id'))
    .addColumn('submission_id', 'text', (column) => column.notNull().unique().references('submissions.id'))
    .addColumn('consent_version', 'text', (column) => column.notNull().references('consent_wordings.version'))
    .addColumn('given_at', 'bigint', (column) => column.notNull())
    .addColumn('verified_at', 'bigint', (column) => column.notNull())
    .addColumn('client_address', 'text', (column) => column.notNull())
    .addColumn('verified_from_address', 'text', (column) => column.notNull())
    .addColumn('user_agent', 'text')
    .execute();
  await db.schema.createIndex('consent_receipts_by_lead').on('consent_receipts').column('lead_id').execute();

  await db.schema
    .createTable('limit_windows')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('ends_at', 'bigint', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('limit_windows_by_end').on('limit_windows').column('ends_at').execute();
}
