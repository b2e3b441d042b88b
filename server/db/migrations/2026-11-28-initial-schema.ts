// Once released, this schema never changes. New columns and tables need another migration (migrate.ts).
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of TABLES.trim().split(';\n')) await sql.raw(statement).execute(db);
  await sql`
    insert into consent_wordings (version, purpose, text, first_used_at) values (
      'not-stated',
      'guide',
      'The wording was not stated: the form was sent by a program that did not say which words stood beside the checkbox.',
      ${Date.now()}
    )
  `.execute(db);
}

const JOB_COLUMNS = `id text primary key,
  state text default 'queued' not null,
  attempts integer default 0 not null,
  due_at bigint not null,
  leased_until bigint,
  lease_id text,
  created_at bigint not null,
  finished_at bigint,
  reply text,`;

const CORRECTION_COLUMNS = `name_before text not null,
  company_before text not null,
  name text not null,
  company text not null,
  corrected_at bigint not null,
  answers text,
  answers_before text`;

const TABLES = `
create table consent_wordings (
  version text primary key,
  purpose text not null,
  text text not null,
  first_used_at bigint not null
);

create table submissions (
  id text primary key,
  browser_id text not null,
  name text not null,
  company text not null,
  answers text,
  email_typed text not null,
  email text not null,
  consent_version text not null references consent_wordings (version),
  news_consent_version text references consent_wordings (version),
  client_address text not null,
  user_agent text,
  attribution text not null,
  flags text not null,
  variant text,
  created_at bigint not null,
  given_at bigint not null,
  asked_at bigint not null,
  codes_sent integer not null,
  wrong_attempts integer default 0 not null,
  expires_at bigint not null,
  verified_at bigint
);
-- By its end, because a stranger may have had thousands, few of them open.
create index submissions_of_browser on submissions (browser_id, expires_at);
create index submissions_unverified_by_end on submissions (expires_at, id) where verified_at is null;
create index submissions_by_email on submissions (email, created_at);

create table codes (
  id text primary key,
  submission_id text references submissions (id),
  email text not null,
  client_address text not null,
  secret_id text not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint
);
-- This index and the next include the sort order, so "the newest" is one step.
create index codes_by_email on codes (email, created_at, id);
create index codes_by_submission on codes (submission_id, created_at, id);

create table outbox (
  ${JOB_COLUMNS}
  kind text not null,
  payload text not null,
  code_id text references codes (id),
  recipient text not null,
  network text,
  recipient_domain text,
  turn_at bigint default 0 not null,
  error_class text
);
-- Only waiting mail is indexed, so a million sent mails don't slow it down.
create index outbox_by_turn on outbox (turn_at, id) where state = 'queued';
create index outbox_sent on outbox (finished_at) where state = 'sent';
create index outbox_failed on outbox (finished_at) where state = 'failed';
create index outbox_by_code on outbox (code_id);
create index outbox_by_recipient on outbox (lower(recipient));

create table suppressions (
  address_key text not null,
  reason text not null,
  email text,
  note text,
  created_at bigint not null,
  constraint suppressions_key primary key (address_key, reason)
);
create index suppressions_by_email on suppressions (email);
create index suppressions_newest on suppressions (created_at desc, address_key, reason);

create table mail_domains (
  domain text primary key,
  mx_host text,
  looked_up_at bigint not null
);

create table leads (
  id text primary key,
  email text not null unique,
  name text not null,
  company text not null,
  first_verified_at bigint not null,
  last_verified_at bigint not null,
  attribution text not null,
  flags text not null,
  first_read_at bigint,
  answers text,
  variant text
);

create table corrections (
  id text primary key,
  lead_id text not null references leads (id) on delete cascade,
  ${CORRECTION_COLUMNS}
);
create index corrections_by_lead on corrections (lead_id);

create table exported_leads (
  lead_id text not null references leads (id) on delete cascade,
  export_name text not null,
  exported_at bigint not null,
  constraint exported_leads_key primary key (lead_id, export_name)
);

create table suppression_removals (
  id text primary key,
  lead_id text not null references leads (id) on delete cascade,
  reasons text not null,
  note text not null,
  removed_at bigint not null
);
create index suppression_removals_by_lead on suppression_removals (lead_id);

create table consent_receipts (
  id text primary key,
  lead_id text not null references leads (id),
  submission_id text not null references submissions (id),
  purpose text not null,
  consent_version text not null references consent_wordings (version),
  given_at bigint not null,
  verified_at bigint not null,
  client_address text not null,
  verified_from_address text not null,
  user_agent text,
  same_browser integer not null,
  constraint consent_receipts_of_submission unique (submission_id, purpose)
);
create index consent_receipts_by_lead on consent_receipts (lead_id);
create index consent_receipts_for_news on consent_receipts (lead_id, id) where purpose = 'news';

create table withdrawals (
  id text primary key,
  lead_id text not null references leads (id) on delete cascade,
  way text not null,
  withdrawn_at bigint not null,
  client_address text,
  user_agent text
);
create index withdrawals_by_lead on withdrawals (lead_id);

-- Its row_id is no reference, because its row may be erased while its position stays.
create table consent_chain (
  position bigint primary key,
  kind text not null,
  row_id text not null,
  content text,
  salt text,
  content_hash text not null,
  previous text not null,
  hash text not null,
  sealed_at bigint not null,
  constraint consent_chain_row unique (row_id, kind)
);

create table consent_chain_head (
  id text primary key,
  position bigint not null,
  hash text not null,
  signature text not null,
  signed_at bigint not null
);

create table imported_leads (
  id text primary key,
  email text not null unique,
  name text not null,
  company text not null,
  consent_source text not null,
  consent_given_at bigint,
  file_name text not null,
  imported_at bigint not null,
  answers text
);

create table imported_corrections (
  id text primary key,
  imported_id text not null references imported_leads (id) on delete cascade,
  ${CORRECTION_COLUMNS}
);
create index imported_corrections_by_imported on imported_corrections (imported_id);

-- Its lead_id is no reference, because the erasure's event outlives the lead.
create table webhook_events (
  ${JOB_COLUMNS}
  type text not null,
  lead_id text not null,
  endpoint text not null,
  position bigint not null,
  payload text not null,
  queued_at bigint not null
);
create index webhook_events_due on webhook_events (endpoint, due_at) where state = 'queued';
create index webhook_events_by_lead on webhook_events (lead_id, endpoint, position);
create index webhook_events_queued on webhook_events (id) where state = 'queued';
create index webhook_events_dead on webhook_events (id) where state = 'dead';

create table desk_sign_ins (
  id text primary key,
  browser_id text not null,
  address_key text not null,
  email text,
  secret_id text not null,
  wrong_attempts bigint default 0 not null,
  created_at bigint not null,
  expires_at bigint not null,
  mailed_at bigint,
  used_at bigint
);
create index desk_sign_ins_by_browser on desk_sign_ins (browser_id, created_at);
create index desk_sign_ins_to_mail on desk_sign_ins (id) where mailed_at is null and email is not null;

create table desk_sessions (
  id text primary key,
  token_hash text not null unique,
  email text not null,
  begun_at bigint not null,
  ends_at bigint not null,
  client_address text not null,
  browser text not null
);

create table desk_passkeys (
  id text primary key,
  email text not null,
  name text not null,
  public_key text not null,
  counter bigint not null,
  created_at bigint not null,
  used_at bigint
);
create index desk_passkeys_by_email on desk_passkeys (email);

create table desk_log (
  id text primary key,
  at bigint not null,
  who text not null,
  action text not null,
  about text,
  details text not null,
  client_address text not null
);
create index desk_log_by_about on desk_log (about) where about is not null;

create table limit_windows (
  key text primary key,
  started_at bigint not null,
  ends_at bigint not null,
  count integer not null
);
create index limit_windows_by_end on limit_windows (ends_at);

create table known_secrets (
  id text primary key,
  first_used_at bigint not null
);

create table funnel_counts (
  day integer not null,
  step text not null,
  source text not null,
  count bigint not null,
  constraint funnel_counts_pkey primary key (day, step, source)
);

create table variant_counts (
  day integer not null,
  step text not null,
  variant text not null,
  count bigint not null,
  constraint variant_counts_pkey primary key (day, step, variant)
)`;
