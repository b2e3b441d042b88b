// Never edit this after a release; add a migration instead.
import { sql, type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely } from 'kysely';

const key = (column: ColumnDefinitionBuilder) => column.primaryKey();
const required = (column: ColumnDefinitionBuilder) => column.notNull();
const requiredFromZero = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);
const ofLead = (column: ColumnDefinitionBuilder) =>
  column.notNull().references('leads.id').onDelete('cascade');

export async function up(db: Kysely<unknown>): Promise<void> {
  await makeSubmissions(db);
  await makeMail(db);
  await makeLeads(db);
  await makeConsent(db);
  await makeImported(db);
  await makeWebhooks(db);
  await makeDesk(db);
  await makeCounts(db);
}

async function makeSubmissions({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('consent_wordings')
    .addColumn('version', 'text', key)
    .addColumn('text', 'text', required)
    .addColumn('first_used_at', 'bigint', required)
    .execute();
  await schema
    .createTable('submissions')
    .addColumn('id', 'text', key)
    .addColumn('browser_id', 'text', required)
    .addColumn('name', 'text', required)
    .addColumn('company', 'text', required)
    .addColumn('answers', 'text')
    .addColumn('email_typed', 'text', required)
    .addColumn('email', 'text', required)
    .addColumn('consent_version', 'text', (column) => column.notNull().references('consent_wordings.version'))
    .addColumn('client_address', 'text', required)
    .addColumn('user_agent', 'text')
    .addColumn('attribution', 'text', required)
    .addColumn('flags', 'text', required)
    .addColumn('variant', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('given_at', 'bigint', required)
    .addColumn('asked_at', 'bigint', required)
    .addColumn('codes_sent', 'integer', required)
    .addColumn('wrong_attempts', 'integer', requiredFromZero)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('verified_at', 'bigint')
    .execute();
  // By its end, because a stranger may have had thousands, few of them open.
  await schema
    .createIndex('submissions_of_browser')
    .on('submissions')
    .columns(['browser_id', 'expires_at'])
    .execute();
  await schema
    .createIndex('submissions_unverified_by_end')
    .on('submissions')
    .columns(['expires_at', 'id'])
    .where(sql<boolean>`verified_at is null`)
    .execute();
  await schema
    .createIndex('submissions_by_email')
    .on('submissions')
    .columns(['email', 'created_at'])
    .execute();

  await schema
    .createTable('codes')
    .addColumn('id', 'text', key)
    .addColumn('submission_id', 'text', (column) => column.references('submissions.id'))
    .addColumn('email', 'text', required)
    .addColumn('client_address', 'text', required)
    .addColumn('secret_id', 'text', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('used_at', 'bigint')
    .execute();
  // This index and the next include the sort order, so "the newest" is one step.
  await schema.createIndex('codes_by_email').on('codes').columns(['email', 'created_at', 'id']).execute();
  await schema
    .createIndex('codes_by_submission')
    .on('codes')
    .columns(['submission_id', 'created_at', 'id'])
    .execute();
}

const addJobColumns = <Table extends string>(table: CreateTableBuilder<Table>) =>
  table
    .addColumn('id', 'text', key)
    .addColumn('state', 'text', (column) => column.notNull().defaultTo('queued'))
    .addColumn('attempts', 'integer', requiredFromZero)
    .addColumn('due_at', 'bigint', required)
    .addColumn('leased_until', 'bigint')
    .addColumn('lease_id', 'text')
    .addColumn('created_at', 'bigint', required)
    .addColumn('finished_at', 'bigint')
    .addColumn('reply', 'text');

async function makeMail(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('outbox')
    .$call(addJobColumns)
    .addColumn('kind', 'text', required)
    .addColumn('payload', 'text', required)
    .addColumn('code_id', 'text', (column) => column.references('codes.id'))
    .addColumn('recipient', 'text', required)
    .addColumn('network', 'text')
    .addColumn('recipient_domain', 'text')
    .addColumn('turn_at', 'bigint', requiredFromZero)
    .addColumn('error_class', 'text')
    .execute();
  const waiting = sql<boolean>`state = 'queued'`;
  // Only waiting mail is indexed, so a million sent mails don't slow it down.
  await schema.createIndex('outbox_by_turn').on('outbox').columns(['turn_at', 'id']).where(waiting).execute();
  await schema
    .createIndex('outbox_sent')
    .on('outbox')
    .columns(['finished_at'])
    .where(sql<boolean>`state = 'sent'`)
    .execute();
  await schema
    .createIndex('outbox_failed')
    .on('outbox')
    .columns(['finished_at'])
    .where(sql<boolean>`state = 'failed'`)
    .execute();
  await schema.createIndex('outbox_by_code').on('outbox').column('code_id').execute();
  await sql`create index outbox_by_recipient on outbox (lower(recipient))`.execute(db);

  await schema
    .createTable('suppressions')
    .addColumn('address_key', 'text', required)
    .addColumn('reason', 'text', required)
    .addColumn('email', 'text')
    .addColumn('note', 'text')
    .addColumn('created_at', 'bigint', required)
    .addPrimaryKeyConstraint('suppressions_key', ['address_key', 'reason'])
    .execute();
  await schema.createIndex('suppressions_by_email').on('suppressions').column('email').execute();
  await schema
    .createIndex('suppressions_newest')
    .on('suppressions')
    .columns(['created_at desc', 'address_key', 'reason'])
    .execute();
  await schema
    .createTable('mail_domains')
    .addColumn('domain', 'text', key)
    .addColumn('platform', 'text', required)
    .addColumn('mx_host', 'text')
    .addColumn('looked_up_at', 'bigint', required)
    .execute();
  await schema.createIndex('mail_domains_by_time').on('mail_domains').column('looked_up_at').execute();
}

async function makeLeads({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('leads')
    .addColumn('id', 'text', key)
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', required)
    .addColumn('company', 'text', required)
    .addColumn('first_verified_at', 'bigint', required)
    .addColumn('last_verified_at', 'bigint', required)
    .addColumn('attribution', 'text', required)
    .addColumn('flags', 'text', required)
    .addColumn('first_read_at', 'bigint')
    .addColumn('answers', 'text')
    .addColumn('variant', 'text')
    .execute();
  await schema
    .createTable('corrections')
    .addColumn('id', 'text', key)
    .addColumn('lead_id', 'text', ofLead)
    .addColumn('name_before', 'text', required)
    .addColumn('company_before', 'text', required)
    .addColumn('name', 'text', required)
    .addColumn('company', 'text', required)
    .addColumn('corrected_at', 'bigint', required)
    .addColumn('answers', 'text')
    .addColumn('answers_before', 'text')
    .execute();
  await schema.createIndex('corrections_by_lead').on('corrections').column('lead_id').execute();
  await schema
    .createTable('exported_leads')
    .addColumn('lead_id', 'text', ofLead)
    .addColumn('export_name', 'text', required)
    .addColumn('exported_at', 'bigint', required)
    .addPrimaryKeyConstraint('exported_leads_key', ['lead_id', 'export_name'])
    .execute();
  await schema
    .createTable('suppression_removals')
    .addColumn('id', 'text', key)
    .addColumn('lead_id', 'text', ofLead)
    .addColumn('reasons', 'text', required)
    .addColumn('note', 'text', required)
    .addColumn('removed_at', 'bigint', required)
    .execute();
  await schema
    .createIndex('suppression_removals_by_lead')
    .on('suppression_removals')
    .column('lead_id')
    .execute();
}

async function makeConsent(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  await sql`
    insert into consent_wordings (version, text, first_used_at) values (
      'not-stated',
      'The wording was not stated: the form was sent by a program that did not say which words stood beside the checkbox.',
      ${Date.now()}
    )
  `.execute(db);
  await schema
    .createTable('consent_receipts')
    .addColumn('id', 'text', key)
    .addColumn('lead_id', 'text', (column) => column.notNull().references('leads.id'))
    .addColumn('submission_id', 'text', (column) => column.notNull().unique().references('submissions.id'))
    .addColumn('consent_version', 'text', (column) => column.notNull().references('consent_wordings.version'))
    .addColumn('given_at', 'bigint', required)
    .addColumn('verified_at', 'bigint', required)
    .addColumn('client_address', 'text', required)
    .addColumn('verified_from_address', 'text', required)
    .addColumn('user_agent', 'text')
    .addColumn('same_browser', 'integer', required)
    .execute();
  await schema.createIndex('consent_receipts_by_lead').on('consent_receipts').column('lead_id').execute();
  await schema
    .createTable('withdrawals')
    .addColumn('id', 'text', key)
    .addColumn('lead_id', 'text', ofLead)
    .addColumn('way', 'text', required)
    .addColumn('withdrawn_at', 'bigint', required)
    .addColumn('client_address', 'text')
    .addColumn('user_agent', 'text')
    .execute();
  await schema.createIndex('withdrawals_by_lead').on('withdrawals').column('lead_id').execute();
  await schema
    .createTable('consent_chain')
    .addColumn('position', 'bigint', key)
    .addColumn('kind', 'text', required)
    // No reference, because its row may be erased while its position stays.
    .addColumn('row_id', 'text', required)
    .addColumn('content', 'text')
    .addColumn('salt', 'text')
    .addColumn('content_hash', 'text', required)
    .addColumn('previous', 'text', required)
    .addColumn('hash', 'text', required)
    .addColumn('sealed_at', 'bigint', required)
    .addUniqueConstraint('consent_chain_row', ['row_id', 'kind'])
    .execute();
  await schema
    .createTable('consent_chain_head')
    .addColumn('id', 'text', key)
    .addColumn('position', 'bigint', required)
    .addColumn('hash', 'text', required)
    .addColumn('signature', 'text', required)
    .addColumn('signed_at', 'bigint', required)
    .execute();
}

async function makeImported({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('imported_leads')
    .addColumn('id', 'text', key)
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', required)
    .addColumn('company', 'text', required)
    .addColumn('consent_source', 'text', required)
    .addColumn('consent_given_at', 'bigint')
    .addColumn('file_name', 'text', required)
    .addColumn('imported_at', 'bigint', required)
    .addColumn('answers', 'text')
    .execute();
  await schema
    .createTable('imported_corrections')
    .addColumn('id', 'text', key)
    .addColumn('imported_id', 'text', (column) =>
      column.notNull().references('imported_leads.id').onDelete('cascade'),
    )
    .addColumn('name_before', 'text', required)
    .addColumn('company_before', 'text', required)
    .addColumn('name', 'text', required)
    .addColumn('company', 'text', required)
    .addColumn('corrected_at', 'bigint', required)
    .addColumn('answers', 'text')
    .addColumn('answers_before', 'text')
    .execute();
  await schema
    .createIndex('imported_corrections_by_imported')
    .on('imported_corrections')
    .column('imported_id')
    .execute();
}

async function makeWebhooks({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('webhook_events')
    .$call(addJobColumns)
    .addColumn('type', 'text', required)
    // No reference, because the erasure's event outlives the lead.
    .addColumn('lead_id', 'text', required)
    .addColumn('endpoint', 'text', required)
    .addColumn('position', 'bigint', required)
    .addColumn('payload', 'text', required)
    .addColumn('queued_at', 'bigint', required)
    .execute();
  await schema
    .createIndex('webhook_events_due')
    .on('webhook_events')
    .columns(['endpoint', 'due_at'])
    .where(sql<boolean>`state = 'queued'`)
    .execute();
  await schema
    .createIndex('webhook_events_by_lead')
    .on('webhook_events')
    .columns(['lead_id', 'endpoint', 'position'])
    .execute();
  await schema
    .createIndex('webhook_events_queued')
    .on('webhook_events')
    .column('id')
    .where(sql<boolean>`state = 'queued'`)
    .execute();
  await schema
    .createIndex('webhook_events_dead')
    .on('webhook_events')
    .columns(['id'])
    .where(sql<boolean>`state = 'dead'`)
    .execute();
}

async function makeDesk({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('desk_sign_ins')
    .addColumn('id', 'text', key)
    .addColumn('browser_id', 'text', required)
    .addColumn('address_key', 'text', required)
    .addColumn('email', 'text')
    .addColumn('secret_id', 'text', required)
    .addColumn('wrong_attempts', 'bigint', requiredFromZero)
    .addColumn('created_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('mailed_at', 'bigint')
    .addColumn('used_at', 'bigint')
    .execute();
  await schema
    .createIndex('desk_sign_ins_by_browser')
    .on('desk_sign_ins')
    .columns(['browser_id', 'created_at'])
    .execute();
  await schema
    .createIndex('desk_sign_ins_to_mail')
    .on('desk_sign_ins')
    .column('id')
    .where(sql<boolean>`mailed_at is null and email is not null`)
    .execute();
  await schema
    .createTable('desk_sessions')
    .addColumn('id', 'text', key)
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('email', 'text', required)
    .addColumn('begun_at', 'bigint', required)
    .addColumn('ends_at', 'bigint', required)
    .addColumn('client_address', 'text', required)
    .addColumn('browser', 'text', required)
    .execute();
  await schema
    .createTable('desk_passkeys')
    .addColumn('id', 'text', key)
    .addColumn('email', 'text', required)
    .addColumn('name', 'text', required)
    .addColumn('public_key', 'text', required)
    .addColumn('counter', 'bigint', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('used_at', 'bigint')
    .execute();
  await schema.createIndex('desk_passkeys_by_email').on('desk_passkeys').column('email').execute();
  await schema
    .createTable('desk_log')
    .addColumn('id', 'text', key)
    .addColumn('at', 'bigint', required)
    .addColumn('who', 'text', required)
    .addColumn('deed', 'text', required)
    .addColumn('about', 'text')
    .addColumn('details', 'text', required)
    .addColumn('client_address', 'text', required)
    .execute();
  await schema
    .createIndex('desk_log_by_about')
    .on('desk_log')
    .column('about')
    .where(sql<boolean>`about is not null`)
    .execute();
}

async function makeCounts({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('limit_windows')
    .addColumn('key', 'text', key)
    .addColumn('started_at', 'bigint', required)
    .addColumn('ends_at', 'bigint', required)
    .addColumn('count', 'integer', required)
    .execute();
  await schema.createIndex('limit_windows_by_end').on('limit_windows').column('ends_at').execute();
  await schema
    .createTable('known_secrets')
    .addColumn('id', 'text', key)
    .addColumn('first_used_at', 'bigint', required)
    .execute();
  await schema
    .createTable('funnel_counts')
    .addColumn('day', 'integer', required)
    .addColumn('step', 'text', required)
    .addColumn('source', 'text', required)
    .addColumn('count', 'bigint', required)
    .addPrimaryKeyConstraint('funnel_counts_pkey', ['day', 'step', 'source'])
    .execute();
  await schema
    .createTable('variant_counts')
    .addColumn('day', 'integer', required)
    .addColumn('step', 'text', required)
    .addColumn('variant', 'text', required)
    .addColumn('count', 'bigint', required)
    .addPrimaryKeyConstraint('variant_counts_pkey', ['day', 'step', 'variant'])
    .execute();
}
