// The tables, as Kysely sees them. One row type a table; migrations/ makes them so. Times are milliseconds since
// 1970 (UTC), ids are UUIDs of version 7, which sort by time. Both engines hold the same types.
import type { ColumnType, Generated } from 'kysely';

import type { LeadAnswers } from '#shared/lead.ts';

/** Set when the row is made, never changed. */
type Fixed<T> = ColumnType<T, T, never>;

/** The same, until it is erased (queries/personal-data.ts). */
type Erasable<T> = ColumnType<T, T, T>;

/** A column for each of what the form asks. A table that has the name has them all. */
type FixedAnswers = { [Name in keyof LeadAnswers]: Fixed<LeadAnswers[Name]> };

/**
 * The exact sentence beside the checkbox. A new wording is a new row, and older rows stay. The row NOT_STATED is reserved.
 */
type ConsentWordings = {
  version: Fixed<string>;
  text: Fixed<string>;
  first_used_at: Fixed<number>;
};

/**
 * A challenge: one browser's claim to one e-mail address, with what was typed into the form last. Not yet a lead: anyone can type any
 * e-mail address. Verified, it never changes.
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
  /** What is noteworthy about the e-mail address: any of `free-mail`, `disposable`, separated by spaces. */
  flags: Fixed<string>;
  /** Which of several pages had the form; null if there was one, or none was named. */
  variant: Fixed<string | null>;
  created_at: Fixed<number>;
  /** When this was typed, and consent given: sending the same form again changes nothing. */
  given_at: number;
  /** When the form was sent last. */
  asked_at: number;
  /** How many codes were mailed for it. 0: it shares the code of another challenge. */
  codes_sent: number;
  wrong_attempts: Generated<number>;
  /** When its newest code expires, and the challenge with it. */
  expires_at: number;
  verified_at: Generated<number | null>;
};

/** A code that was mailed. Its digits are derived from id and secret, and are stored nowhere. */
type Codes = {
  id: Fixed<string>;
  /** The challenge it was mailed for; null once that was erased. */
  submission_id: Erasable<string | null>;
  /** Its pseudonym, once it was erased. */
  email: Erasable<string>;
  client_address: Erasable<string>;
  secret_id: Fixed<string>;
  created_at: Fixed<number>;
  /** A lifetime after its mailing, which is at most a lifetime after its making; or earlier when it is no longer wanted. */
  expires_at: number;
  /** When it was entered; never set for another reason. */
  used_at: Generated<number | null>;
};

/** The columns of a job, which server/jobs/queue.ts leases and ends. */
type JobColumns<State extends string> = {
  id: Fixed<string>;
  state: Generated<State>;
  /** How many attempts have begun. */
  attempts: Generated<number>;
  /** No attempt begins before. */
  due_at: number;
  leased_until: Generated<number | null>;
  lease_id: Generated<string | null>;
  created_at: Fixed<number>;
  finished_at: Generated<number | null>;
  /** The receiving server's: its acceptance, or the reason of the newest failure. */
  reply: Generated<string | null>;
};

/** Mail to be sent, added in the transaction of its cause. */
type Outbox = JobColumns<OutboxState> & {
  /** Who makes the message: the kinds are in server/mail/outbox/letter-kinds.ts. */
  kind: Fixed<string>;
  /** JSON: what its kind needs to make it. Never a code's digits. */
  payload: Fixed<string>;
  /** The code it carries, if it carries one: a column, so that it is found by its code and refers to one that is there. */
  code_id: Fixed<string | null>;
  recipient: Fixed<string>;
  /** The visitor's network, as {@link networkOf} returns it; null for a notice. */
  network: Fixed<string | null>;
  /** What follows the @ of the recipient, in lower case. */
  recipient_domain: Fixed<string | null>;
  /** Its place in the order of sending: a network that sends much gets later turns. */
  turn_at: Generated<number>;
  /**
   * What kind of failure the newest was: 4xx for a mail server's "not now", stalled when it fell silent, or the name of
   * what broke.
   */
  error_class: Generated<string | null>;
};
/** `dropped`: no longer relevant when its turn came, such as an expired code. `failed`: refused for good. */
export type OutboxState = 'queued' | 'sent' | 'dropped' | 'failed';

/** An address that was verified. */
type Leads = LeadAnswers & {
  id: Fixed<string>;
  email: Fixed<string>;
  first_verified_at: Fixed<number>;
  last_verified_at: number;
  attribution: Fixed<string>;
  flags: Fixed<string>;
  /** That of the form with which the address was first verified. */
  variant: Fixed<string | null>;
  /** When the lead was first given the article; null: not yet. */
  first_read_at: ColumnType<number | null, number | null | undefined, number>;
};

/** Proof of consent: one row for each verified submission, never changed. */
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
  /** 1: the code was entered in the browser that sent the form. 0: in another, or one that keeps no cookies. */
  same_browser: Fixed<number>;
};

/** Proofs of consents, each with the hash of the previous one (server/consent/chain.ts). */
type ConsentChain = {
  position: Fixed<number>;
  kind: Fixed<'consent' | 'withdrawal' | 'removal' | 'erasure' | 'acceptance'>;
  /** ID of the consent receipt, withdrawal or removal, also where it was erased. An acceptance has a number. */
  row_id: Fixed<string>;
  /** JSON of the proof; null once it was erased. */
  content: Erasable<string | null>;
  /** Deleted with the content: without it, the hash reveals nothing. */
  salt: Erasable<string | null>;
  content_hash: Fixed<string>;
  /** The hash of the previous entry. */
  previous: Fixed<string>;
  /** Of all above but the content and its salt. */
  hash: Fixed<string>;
  sealed_at: Fixed<number>;
};

/** The newest entry that this page appended, signed: one row. Every entry's hash covers those before it. */
type ConsentChainHead = {
  id: Fixed<string>;
  position: number;
  hash: string;
  /** HMAC of position and hash, with a key made from APP_SECRET. */
  signature: string;
  signed_at: number;
};

/** Which lead went out in which export, so that the next export of the same name leaves it out. */
type ExportedLeads = {
  lead_id: Fixed<string>;
  export_name: Fixed<string>;
  exported_at: Fixed<number>;
};

/** What the operator changed about a lead, and what stood there before. */
type Corrections = FixedAnswers & { [Name in keyof LeadAnswers as `${Name}_before`]: FixedAnswers[Name] } & {
  id: Fixed<string>;
  lead_id: Fixed<string>;
  corrected_at: Fixed<number>;
};

/** A person imported from another tool, not verified by this page. What the file did not contain is empty. */
type ImportedLeads = LeadAnswers & {
  id: Fixed<string>;
  email: Fixed<string>;
  /** Where the consent came from, in the operator's words. */
  consent_source: Fixed<string>;
  /** As the other tool recorded it; null when it did not. */
  consent_given_at: Fixed<number | null>;
  /** Of the file, without its folder. */
  file_name: Fixed<string>;
  imported_at: Fixed<number>;
};

/** The same as {@link Corrections}, of an imported person. */
type ImportedCorrections = Omit<Corrections, 'lead_id'> & { imported_id: Fixed<string> };

/** Who runs the mail of a domain, as DNS answered. */
type MailDomains = {
  domain: Fixed<string>;
  /** As recognised when it was looked up (server/stats/mail-platforms.ts). */
  platform: string;
  /** The first mail server in its MX record; null when DNS named none. */
  mx_host: string | null;
  looked_up_at: number;
};

/** `by-hand`: the operator put it there. `erased`: only its owner may bring it back. */
export type SuppressionReason = 'unsubscribed' | 'complained' | 'bounced' | 'by-hand' | 'erased';

/** An address that gets no mail but a code that was just requested for it. */
type Suppressions = {
  /** Its pseudonym (server/secrets/pseudonyms.ts). */
  address_key: Fixed<string>;
  reason: Fixed<SuppressionReason>;
  /** Null once it was erased. */
  email: Erasable<string | null>;
  /** The words of a mail server, or of the operator. */
  note: Erasable<string | null>;
  /** A new note about an address that was erased begins anew. */
  created_at: number;
};

/** `page`: the button of the page that a link opens. `one-click`: the button of a mail program (RFC 8058). */
export type WithdrawalWay = 'page' | 'one-click' | 'complaint' | 'by-hand';

/** A lead took their consent back. */
type Withdrawals = {
  id: Fixed<string>;
  lead_id: Fixed<string>;
  way: Fixed<WithdrawalWay>;
  withdrawn_at: Fixed<number>;
  client_address: Fixed<string | null>;
  user_agent: Fixed<string | null>;
};

/** The operator took a lead's entries off the list of addresses that get no mail: they were slips. */
type SuppressionRemovals = {
  id: Fixed<string>;
  lead_id: Fixed<string>;
  /** Those of the entries, separated by spaces. */
  reasons: Fixed<string>;
  /** Why they were slips, in the operator's words. */
  note: Fixed<string>;
  removed_at: Fixed<number>;
};

/** Events about leads for other programs: a row for each event and each URL of WEBHOOK_URLS. */
type WebhookEvents = JobColumns<WebhookState> & {
  type: Fixed<LeadEventType>;
  lead_id: Fixed<string>;
  /** Which of WEBHOOK_URLS, by a hash: the URL itself is a secret. */
  endpoint: Fixed<string>;
  /** Its place among the events of its lead. */
  position: Fixed<number>;
  /** JSON, as it is sent; empty once it was. */
  payload: string;
  /** Since when it is tried: since it was added, or since the operator had it tried again. */
  queued_at: number;
};
/** `dead`: given up; kept until the operator has it tried again, or it expires. */
type WebhookState = 'queued' | 'sent' | 'dead';
/** Every event about a lead. docs/webhooks.md explains each of them. */
export const LEAD_EVENT_TYPES = [
  'lead.verified',
  'lead.updated',
  'lead.read',
  'lead.unsubscribed',
  'lead.bounced',
  'lead.erased',
] as const;
export type LeadEventType = (typeof LEAD_EVENT_TYPES)[number];

/** How often something happened since its window began. */
type LimitWindows = {
  key: Fixed<string>;
  started_at: number;
  ends_at: number;
  count: number;
};

/** A secret that a server was started with on this database: its id, which reveals nothing about it. */
type KnownSecrets = {
  id: Fixed<string>;
  first_used_at: Fixed<number>;
};

/** How often something was seen, opened or read on a day, by the source of the visit. Nothing personal. */
type FunnelCounts = {
  /** Days since 1970, in UTC. */
  day: Fixed<number>;
  /** One of shared/funnel.ts. */
  step: Fixed<string>;
  source: Fixed<string>;
  count: number;
};

/** How often a step was taken on a day, on the pages of a variant. Nothing personal. */
type VariantCounts = {
  /** Days since 1970, in UTC. */
  day: Fixed<number>;
  /** One of shared/funnel.ts. */
  step: Fixed<string>;
  variant: Fixed<string>;
  count: number;
};

/** A browser that asked for a code to sign in at the desk. The digits are derived from id and secret, and are stored nowhere. */
type DeskSignIns = {
  id: Fixed<string>;
  browser_id: Fixed<string>;
  /** A pseudonym of the address that was typed (server/secrets/pseudonyms.ts). */
  address_key: Fixed<string>;
  /** Null for an address that is not in DESK_PEOPLE: no code is mailed to it, and none lets it in. */
  email: Fixed<string | null>;
  secret_id: Fixed<string>;
  wrong_attempts: Generated<number>;
  created_at: Fixed<number>;
  expires_at: number;
  /** When its mail was queued; null: not yet, or never. */
  mailed_at: Generated<number | null>;
  used_at: Generated<number | null>;
};

/** A person who is signed in at the desk. The role is not here: DESK_PEOPLE says it at each request. */
type DeskSessions = {
  id: Fixed<string>;
  /** HMAC-SHA-256, with a key made from APP_SECRET, of the token and of what else the row says (desk/server/auth/sessions.ts). */
  token_hash: Fixed<string>;
  email: Fixed<string>;
  begun_at: Fixed<number>;
  ends_at: Fixed<number>;
  client_address: Fixed<string>;
  /** What the browser calls itself. */
  browser: Fixed<string>;
};

/** A passkey with which a person signs in at the desk. It opens nothing for a person who is not in DESK_PEOPLE. */
type DeskPasskeys = {
  /** Of the credential, as its authenticator names it. */
  id: Fixed<string>;
  email: Fixed<string>;
  /** What the person called it. */
  name: Fixed<string>;
  /** COSE, in base64url, and a signature (desk/server/auth/passkeys.ts). */
  public_key: string;
  /** How often it was used, as its authenticator counts: a copy counts differently. */
  counter: number;
  created_at: Fixed<number>;
  used_at: Generated<number | null>;
};

/** Who did what with the data. */
type DeskLog = {
  id: Fixed<string>;
  at: Fixed<number>;
  /** An address of DESK_PEOPLE, or one of desk/audit-log/audit-log.ts. */
  who: Fixed<string>;
  /** One of desk/endpoints/auth.ts. */
  deed: Fixed<string>;
  /** The address that it was about, or the pseudonym of an erased one (tables/desk-log.ts); null for none. */
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
