// What is personal: every column of every table, classified. A test compares this list with a migrated database.
import type { Schema } from '#server/db/schema.ts';

/**
 * `personal`: says something about a person. `key`: ties rows to each other, and so to a person. `not`: says nothing about anyone
 * once the personal columns are gone.
 */
type Kind = 'personal' | 'key' | 'not';

type Classification = { readonly [Table in keyof Schema]: Readonly<Record<keyof Schema[Table], Kind>> };

/** A new column is entered here; personal-data.ts erases its row, expiry.ts deletes it in time. */
export const COLUMNS: Classification = {
  submissions: {
    id: 'key',
    challenge_id: 'key',
    name: 'personal',
    company: 'personal',
    answers: 'personal',
    email_typed: 'personal',
    email: 'personal',
    consent_version: 'not',
    client_address: 'personal',
    user_agent: 'personal',
    attribution: 'personal',
    flags: 'personal',
    // A page, which half of all visitors were given.
    variant: 'not',
    created_at: 'not',
  },
  challenges: {
    id: 'key',
    browser_id: 'personal',
    email: 'personal',
    codes_sent: 'not',
    wrong_tries: 'not',
    created_at: 'not',
    expires_at: 'not',
    verified_at: 'not',
  },
  codes: {
    id: 'key',
    challenge_id: 'key',
    email: 'personal',
    client_address: 'personal',
    secret_id: 'not',
    created_at: 'not',
    expires_at: 'not',
    used_at: 'not',
  },
  outbox: {
    id: 'key',
    kind: 'not',
    payload: 'personal',
    code_id: 'key',
    recipient: 'personal',
    state: 'not',
    attempts: 'not',
    network: 'personal',
    recipient_domain: 'personal',
    due_at: 'not',
    turn_at: 'not',
    leased_until: 'not',
    lease_id: 'not',
    created_at: 'not',
    finished_at: 'not',
    // Mail servers often repeat the address.
    reply: 'personal',
    error_class: 'not',
  },
  leads: {
    id: 'key',
    email: 'personal',
    name: 'personal',
    company: 'personal',
    answers: 'personal',
    first_verified_at: 'not',
    last_verified_at: 'not',
    attribution: 'personal',
    flags: 'personal',
    variant: 'not',
    first_read_at: 'not',
  },
  consent_receipts: {
    id: 'key',
    lead_id: 'key',
    submission_id: 'key',
    consent_version: 'not',
    given_at: 'not',
    verified_at: 'not',
    client_address: 'personal',
    verified_from_address: 'personal',
    user_agent: 'personal',
    same_browser: 'not',
  },
  consent_chain: {
    position: 'not',
    kind: 'not',
    row_id: 'key',
    content: 'personal',
    salt: 'not',
    content_hash: 'not',
    previous: 'not',
    hash: 'not',
    sealed_at: 'not',
  },
  consent_chain_head: { id: 'not', position: 'not', hash: 'not', signature: 'not', signed_at: 'not' },
  exported_leads: { lead_id: 'key', export_name: 'not', exported_at: 'not' },
  corrections: {
    id: 'key',
    lead_id: 'key',
    name_before: 'personal',
    company_before: 'personal',
    answers_before: 'personal',
    name: 'personal',
    company: 'personal',
    answers: 'personal',
    corrected_at: 'not',
  },
  imported_leads: {
    id: 'key',
    email: 'personal',
    name: 'personal',
    company: 'personal',
    answers: 'personal',
    consent_source: 'personal',
    consent_given_at: 'not',
    file_name: 'personal',
    imported_at: 'not',
  },
  imported_corrections: {
    id: 'key',
    imported_id: 'key',
    name_before: 'personal',
    company_before: 'personal',
    answers_before: 'personal',
    name: 'personal',
    company: 'personal',
    answers: 'personal',
    corrected_at: 'not',
  },
  // Some domains have one mailbox.
  mail_domains: { domain: 'personal', platform: 'not', mx_host: 'personal', looked_up_at: 'not' },
  suppressions: {
    // With the secret, this answers whether a known address is on the list, and no more.
    address_key: 'not',
    reason: 'not',
    email: 'personal',
    // Mail servers often repeat the address.
    note: 'personal',
    created_at: 'not',
  },
  withdrawals: {
    id: 'key',
    lead_id: 'key',
    way: 'not',
    withdrawn_at: 'not',
    client_address: 'personal',
    user_agent: 'personal',
  },
  suppression_removals: {
    id: 'key',
    lead_id: 'key',
    reasons: 'not',
    // The operator may name the person.
    note: 'personal',
    removed_at: 'not',
  },
  webhook_events: {
    id: 'key',
    type: 'not',
    lead_id: 'key',
    endpoint: 'not',
    position: 'not',
    payload: 'personal',
    state: 'not',
    attempts: 'not',
    due_at: 'not',
    leased_until: 'not',
    lease_id: 'not',
    created_at: 'not',
    queued_at: 'not',
    finished_at: 'not',
    answer: 'not',
  },
  limit_windows: {
    // A network address for an hour, or the pseudonym of an e-mail address for two days at most.
    key: 'personal',
    started_at: 'not',
    ends_at: 'not',
    count: 'not',
  },
  consent_wordings: { version: 'key', text: 'not', first_used_at: 'not' },
  known_secrets: { id: 'not', first_used_at: 'not' },
  // A source is a word or a host, never an address (server/attribution/source.ts).
  funnel_counts: { day: 'not', step: 'not', source: 'not', count: 'not' },
  variant_counts: { day: 'not', step: 'not', variant: 'not', count: 'not' },
  desk_sign_ins: {
    id: 'key',
    browser_id: 'personal',
    // Until the code expires.
    address_key: 'personal',
    email: 'personal',
    secret_id: 'not',
    wrong_tries: 'not',
    created_at: 'not',
    expires_at: 'not',
    mailed_at: 'not',
    used_at: 'not',
  },
  desk_sessions: {
    id: 'key',
    token_hash: 'key',
    email: 'personal',
    begun_at: 'not',
    ends_at: 'not',
    client_address: 'personal',
    browser: 'personal',
  },
  desk_passkeys: {
    id: 'key',
    email: 'personal',
    name: 'personal',
    public_key: 'personal',
    counter: 'not',
    created_at: 'not',
    used_at: 'not',
  },
  desk_log: {
    id: 'key',
    at: 'not',
    who: 'personal',
    deed: 'not',
    about: 'personal',
    details: 'not',
    client_address: 'personal',
  },
};

/**
 * Names every column of a table. Statements name them, because one with `select *` that PostgreSQL has prepared fails as soon as a
 * migration adds a column (docs/decisions/0018-asked-once.md).
 */
export const columnsOf = <Table extends keyof Schema>(table: Table): readonly (keyof Schema[Table])[] =>
  Object.keys(COLUMNS[table]) as (keyof Schema[Table])[];
