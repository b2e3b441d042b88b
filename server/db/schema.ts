// Row types for Kysely; migrations/ creates the tables. Times are milliseconds since 1970 (UTC), IDs are UUIDs of version 7,
// which sort by time.
import type { ColumnType, Generated } from 'kysely';

import type { LeadAnswers } from '#shared/lead.ts';

/** Never updated. */
type Fixed<T> = ColumnType<T, T, never>;

/** Updated only by an erasure (queries/personal-data.ts). */
type Erasable<T> = ColumnType<T, T, T>;

/** A table with the name has them all. */
type FixedAnswers = { [Name in keyof LeadAnswers]: Fixed<LeadAnswers[Name]> };

/** A new wording is a new row. The row NOT_STATED is reserved. */
type ConsentWordings = {
  version: Fixed<string>;
  text: Fixed<string>;
  first_used_at: Fixed<number>;
};

/**
 * One browser's claim to one e-mail address, with its latest form. Not yet a lead, because anyone can type any address. Once
 * verified, it never changes.
 */
type Submissions = LeadAnswers & {
  id: Fixed<string>;
  browser_id: Fixed<string>;
  email: Fixed<string>;
  email_typed: string;
  consent_version: string;
  client_address: string;
  user_agent: string | null;
  /** JSON: campaign parameters of the page's URL. */
  attribution: Fixed<string>;
  /** Any of `free-mail`, `disposable`, separated by spaces. */
  flags: Fixed<string>;
  /** Null if there was only one page, or none was named. */
  variant: Fixed<string | null>;
  created_at: Fixed<number>;
  /** Time of form and consent; an identical resend doesn't change it. */
  given_at: number;
  asked_at: number;
  /** 0: it shares another challenge's code. */
  codes_sent: number;
  wrong_attempts: Generated<number>;
  expires_at: number;
  verified_at: Generated<number | null>;
};

/** Digits are derived, and stored nowhere. */
type Codes = {
  id: Fixed<string>;
  /** Null once the challenge was erased. */
  submission_id: Erasable<string | null>;
  /** A pseudonym once erased. */
  email: Erasable<string>;
  client_address: Erasable<string>;
  secret_id: Fixed<string>;
  created_at: Fixed<number>;
  /** A lifetime after mailing; earlier if no longer wanted. */
  expires_at: number;
  /** Set only by an entry. */
  used_at: Generated<number | null>;
};

/** server/jobs/queue.ts leases and ends jobs. */
type JobColumns<State extends string> = {
  id: Fixed<string>;
  state: Generated<State>;
  attempts: Generated<number>;
  /** Earliest next attempt. */
  due_at: number;
  leased_until: Generated<number | null>;
  lease_id: Generated<string | null>;
  created_at: Fixed<number>;
  finished_at: Generated<number | null>;
  /** An acceptance, or the newest failure's reason. */
  reply: Generated<string | null>;
};

/** Added in its cause's transaction. */
type Outbox = JobColumns<OutboxState> & {
  /** One of server/mail/mail-worker.ts. */
  kind: Fixed<string>;
  /** JSON. Never a code's digits. */
  payload: Fixed<string>;
  /** A column, so a mail can be found by its code. */
  code_id: Fixed<string | null>;
  recipient: Fixed<string>;
  /** From {@link networkOf}; null for a notice. */
  network: Fixed<string | null>;
  /** In lower case. */
  recipient_domain: Fixed<string | null>;
  /** A network that sends much gets later turns. */
  turn_at: Generated<number>;
  /** 4xx for "not now", stalled for silence, or the error's name. */
  error_class: Generated<string | null>;
};
/** `dropped`: irrelevant at its turn, such as an expired code. `failed`: refused for good. */
export type OutboxState = 'queued' | 'sent' | 'dropped' | 'failed';

type Leads = LeadAnswers & {
  id: Fixed<string>;
  email: Fixed<string>;
  first_verified_at: Fixed<number>;
  last_verified_at: number;
  attribution: Fixed<string>;
  flags: Fixed<string>;
  /** Of the first verified form. */
  variant: Fixed<string | null>;
  /** When the lead was first given the article. */
  first_read_at: ColumnType<number | null, number | null | undefined, number>;
};

/** One row per verified submission, never changed. */
type ConsentReceipts = {
  id: Fixed<string>;
  lead_id: Fixed<string>;
  submission_id: Fixed<string>;
  consent_version: Fixed<string>;
  given_at: Fixed<number>;
  verified_at: Fixed<number>;
  client_address: Fixed<string>;
  verified_from_address: Fixed<string>;
  user_agent: Fixed<string | null>;
  /** 1: entered in the browser that sent the form. 0: in another, or without cookies. */
  same_browser: Fixed<number>;
};

type ConsentChain = {
  position: Fixed<number>;
  kind: Fixed<'consent' | 'withdrawal' | 'removal' | 'erasure' | 'acceptance'>;
  /** Even if the row was erased. An acceptance has a number. */
  row_id: Fixed<string>;
  /** JSON; null once erased. */
  content: Erasable<string | null>;
  /** Deleted with the content; without it, the hash reveals nothing. */
  salt: Erasable<string | null>;
  content_hash: Fixed<string>;
  previous: Fixed<string>;
  /** Of all columns above except content and salt. */
  hash: Fixed<string>;
  sealed_at: Fixed<number>;
};

/** One row. Each hash covers the entries before it. */
type ConsentChainHead = {
  id: Fixed<string>;
  position: number;
  hash: string;
  /** HMAC of position and hash, with a key made from APP_SECRET. */
  signature: string;
  signed_at: number;
};

/** Leads already exported, so the next export of that name omits them. */
type ExportedLeads = {
  lead_id: Fixed<string>;
  export_name: Fixed<string>;
  exported_at: Fixed<number>;
};

type Corrections = FixedAnswers & { [Name in keyof LeadAnswers as `${Name}_before`]: FixedAnswers[Name] } & {
  id: Fixed<string>;
  lead_id: Fixed<string>;
  corrected_at: Fixed<number>;
};

/** Imported from another tool, not verified here. Missing fields are empty. */
type ImportedLeads = LeadAnswers & {
  id: Fixed<string>;
  email: Fixed<string>;
  /** In the operator's words. */
  consent_source: Fixed<string>;
  /** From the other tool; null if it didn't record it. */
  consent_given_at: Fixed<number | null>;
  /** Without its folder. */
  file_name: Fixed<string>;
  imported_at: Fixed<number>;
};

type ImportedCorrections = Omit<Corrections, 'lead_id'> & { imported_id: Fixed<string> };

/** Cached DNS results of mail domains. */
type MailDomains = {
  domain: Fixed<string>;
  platform: string;
  /** First of the MX record. */
  mx_host: string | null;
  looked_up_at: number;
};

/** `by-hand`: added by the operator. `erased`: only its owner may lift it. */
export type SuppressionReason = 'unsubscribed' | 'complained' | 'bounced' | 'by-hand' | 'erased';

/** Blocks all mail except requested codes. */
type Suppressions = {
  /** A pseudonym (server/secrets/pseudonyms.ts). */
  address_key: Fixed<string>;
  reason: Fixed<SuppressionReason>;
  /** Null once erased. */
  email: Erasable<string | null>;
  /** A mail server's or the operator's words. */
  note: Erasable<string | null>;
  /** Restarts with a new note about an erased address. */
  created_at: number;
};

/** `page`: the page's button. `one-click`: the mail program's button (RFC 8058). */
export type WithdrawalWay = 'page' | 'one-click' | 'complaint' | 'by-hand';

/** A lead withdrew consent. */
type Withdrawals = {
  id: Fixed<string>;
  lead_id: Fixed<string>;
  way: Fixed<WithdrawalWay>;
  withdrawn_at: Fixed<number>;
  client_address: Fixed<string | null>;
  user_agent: Fixed<string | null>;
};

/** The operator lifted a lead's suppressions, because they were mistakes. */
type SuppressionRemovals = {
  id: Fixed<string>;
  lead_id: Fixed<string>;
  /** Separated by spaces. */
  reasons: Fixed<string>;
  note: Fixed<string>;
  removed_at: Fixed<number>;
};

/** One row per event and URL. */
type WebhookEvents = JobColumns<WebhookState> & {
  type: Fixed<LeadEventType>;
  lead_id: Fixed<string>;
  /** A hash, because the URL is secret. */
  endpoint: Fixed<string>;
  /** Order among the lead's events. */
  position: Fixed<number>;
  /** JSON; empty once sent. */
  payload: string;
  /** First attempt, or when the operator retried it. */
  queued_at: number;
};
/** `dead`: given up, kept until retried or expired. */
type WebhookState = 'queued' | 'sent' | 'dead';
export const LEAD_EVENT_TYPES = [
  'lead.verified',
  'lead.updated',
  'lead.read',
  'lead.unsubscribed',
  'lead.bounced',
  'lead.erased',
] as const;
export type LeadEventType = (typeof LEAD_EVENT_TYPES)[number];

type LimitWindows = {
  key: Fixed<string>;
  started_at: number;
  ends_at: number;
  count: number;
};

/** The ID reveals nothing about the secret. */
type KnownSecrets = {
  id: Fixed<string>;
  first_used_at: Fixed<number>;
};

/** By day and source. Nothing personal. */
type FunnelCounts = {
  /** Days since 1970, in UTC. */
  day: Fixed<number>;
  /** One of shared/funnel.ts. */
  step: Fixed<string>;
  source: Fixed<string>;
  count: number;
};

/** By day and variant. Nothing personal. */
type VariantCounts = {
  /** Days since 1970, in UTC. */
  day: Fixed<number>;
  /** One of shared/funnel.ts. */
  step: Fixed<string>;
  variant: Fixed<string>;
  count: number;
};

/** Digits are derived, and stored nowhere. */
type DeskSignIns = {
  id: Fixed<string>;
  browser_id: Fixed<string>;
  /** A pseudonym (server/secrets/pseudonyms.ts). */
  address_key: Fixed<string>;
  /** Null if not in DESK_PEOPLE: no code is mailed or accepted. */
  email: Fixed<string | null>;
  secret_id: Fixed<string>;
  wrong_attempts: Generated<number>;
  created_at: Fixed<number>;
  expires_at: number;
  mailed_at: Generated<number | null>;
  used_at: Generated<number | null>;
};

/** The role is read from DESK_PEOPLE at each request. */
type DeskSessions = {
  id: Fixed<string>;
  /** HMAC-SHA-256 of token and row, with a key made from APP_SECRET (desk/server/auth/sessions.ts). */
  token_hash: Fixed<string>;
  email: Fixed<string>;
  begun_at: Fixed<number>;
  ends_at: Fixed<number>;
  client_address: Fixed<string>;
  browser: Fixed<string>;
};

/** Useless for anyone who isn't in DESK_PEOPLE. */
type DeskPasskeys = {
  id: Fixed<string>;
  email: Fixed<string>;
  name: Fixed<string>;
  /** COSE, in base64url, and a signature (desk/server/auth/passkeys.ts). */
  public_key: string;
  /** Reveals a copy. */
  counter: number;
  created_at: Fixed<number>;
  used_at: Generated<number | null>;
};

type DeskLog = {
  id: Fixed<string>;
  at: Fixed<number>;
  /** Or one of desk/audit-log/audit-log.ts. */
  who: Fixed<string>;
  /** One of desk/endpoints/auth.ts. */
  deed: Fixed<string>;
  /** Or an erased address's pseudonym (tables/desk-log.ts). */
  about: Erasable<string | null>;
  /** Never personal. */
  details: Fixed<string>;
  client_address: Fixed<string>;
};

export type Schema = {
  consent_wordings: ConsentWordings;
  submissions: Submissions;
  codes: Codes;
  outbox: Outbox;
  leads: Leads;
  consent_receipts: ConsentReceipts;
  consent_chain: ConsentChain;
  consent_chain_head: ConsentChainHead;
  exported_leads: ExportedLeads;
  corrections: Corrections;
  imported_leads: ImportedLeads;
  imported_corrections: ImportedCorrections;
  mail_domains: MailDomains;
  suppressions: Suppressions;
  withdrawals: Withdrawals;
  suppression_removals: SuppressionRemovals;
  webhook_events: WebhookEvents;
  limit_windows: LimitWindows;
  known_secrets: KnownSecrets;
  funnel_counts: FunnelCounts;
  variant_counts: VariantCounts;
  desk_sign_ins: DeskSignIns;
  desk_sessions: DeskSessions;
  desk_passkeys: DeskPasskeys;
  desk_log: DeskLog;
};
