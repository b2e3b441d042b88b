// Describes every table once. Types, migrations, erasure, expiry and moving are derived from this, or compared with it by
// tests. Times are milliseconds since 1970 (UTC). IDs are UUIDs of version 7, which sort by time.
import { sql, type ColumnType, type Generated, type RawBuilder } from 'kysely';

import type { LeadEventType } from '#server/platform/lead-event-types.ts';
import type { FunnelStep, VariantStep } from '#shared/funnel.ts';

type Fixed<Type> = ColumnType<Type, Type, never>;

/** A column that only an erasure updates (queries/personal-data.ts). */
type Erasable<Type> = ColumnType<Type, Type, Type>;

/** `personal`: about a person. `link`: joins rows. `plain`: anonymous once the personal columns are gone. */
type Column<Type> = { readonly kind: 'personal' | 'link' | 'plain'; readonly type?: () => Type };
const personal = <Type>(): Column<Type> => ({ kind: 'personal' });
const link = <Type>(): Column<Type> => ({ kind: 'link' });
const plain = <Type>(): Column<Type> => ({ kind: 'plain' });

type Description<Name extends string> = {
  /** Absent if it is the ID. */
  readonly key?: readonly Name[];
  /** Absent if the rows don't concern an e-mail address. */
  readonly isAbout?: (email: string) => RawBuilder<boolean>;
  /** `custom`: handled in queries/personal-data.ts. `keep`: belongs to a desk user, not to the lead. */
  readonly erasure?: 'delete' | 'custom' | 'keep';
  /**
   * Rows whose column is before the cutoff are deleted. `custom`: handled in queries/expiry.ts. Absent: rows remain until
   * erased.
   */
  readonly expiry?: { readonly column: Name; readonly cutoff: keyof Cutoffs } | 'custom';
  /** The first start adds rows to this table, so moving a database may replace them. */
  readonly isFilledAtStart?: true;
};

/** Rows older than a cutoff expire; null keeps them. */
export type Cutoffs = {
  readonly unverified: number | null;
  readonly mail: number | null;
  /** Windows expire when they end. Daily checks pass the current time. */
  readonly windows: number;
  readonly funnel: number;
};

const table = <
  const Columns extends Readonly<Record<string, Column<unknown>>>,
  const Rest extends Description<keyof Columns & string>,
>(
  description: Rest & { readonly columns: Columns },
) => description;

const hasEmail = (email: string) => sql<boolean>`email = ${email}`;
const isOfLead = (email: string) => sql<boolean>`lead_id in (select id from leads where email = ${email})`;

const answerColumns = () => ({
  name: personal<string>(),
  company: personal<string>(),
  /** Answers to custom questions as JSON (shared/own-fields.ts), or null. */
  answers: personal<string | null>(),
});

const correctionColumns = () => ({
  id: link<Fixed<string>>(),
  name: personal<Fixed<string>>(),
  name_before: personal<Fixed<string>>(),
  company: personal<Fixed<string>>(),
  company_before: personal<Fixed<string>>(),
  answers: personal<Fixed<string | null>>(),
  answers_before: personal<Fixed<string | null>>(),
  corrected_at: plain<Fixed<number>>(),
});

const jobColumns = <State extends string>() => ({
  id: link<Fixed<string>>(),
  state: plain<Generated<State>>(),
  attempts: plain<Generated<number>>(),
  due_at: plain<number>(),
  leased_until: plain<Generated<number | null>>(),
  lease_id: plain<Generated<string | null>>(),
  created_at: plain<Fixed<number>>(),
  finished_at: plain<Generated<number | null>>(),
});

/** A constant instead of a parameter, so the partial indexes are used. */
export const isQueued = sql<boolean>`state = 'queued'`;

/** `dropped`: no longer needed when it was due, such as the mail for an expired code. `failed`: refused permanently. */
export type OutboxState = 'queued' | 'sent' | 'dropped' | 'failed';

/** `dead`: not attempted again until the operator retries it. */
type WebhookState = 'queued' | 'sent' | 'dead';

/** `by-hand`: added by the operator. `erased`: only the owner of the e-mail address can lift it. */
export type SuppressionReason = 'unsubscribed' | 'complained' | 'bounced' | 'by-hand' | 'erased';

/** `guide`: the required box, which the specification words. `news`: the optional one. */
export type ConsentPurpose = 'guide' | 'news';

export type WithdrawalWay = 'page' | 'one-click' | 'complaint' | 'by-hand';

/** A table follows those it refers to. An erasure runs from the last table to the first. */
export const TABLES = {
  /** Each new wording gets a row. The row NOT_STATED is reserved. */
  consent_wordings: table({
    key: ['version'],
    isFilledAtStart: true,
    columns: {
      version: link<Fixed<string>>(),
      purpose: plain<Fixed<ConsentPurpose>>(),
      text: plain<Fixed<string>>(),
      first_used_at: plain<Fixed<number>>(),
    },
  }),
  known_secrets: table({
    isFilledAtStart: true,
    columns: {
      id: plain<Fixed<string>>(),
      first_used_at: plain<Fixed<number>>(),
    },
  }),
  /**
   * One browser's claim to one e-mail address, with the latest form. The visitor isn't a lead yet, because anyone can type any
   * e-mail address.
   */
  submissions: table({
    isAbout: hasEmail,
    erasure: 'delete',
    expiry: 'custom',
    columns: {
      ...answerColumns(),
      id: link<Fixed<string>>(),
      browser_id: personal<Fixed<string>>(),
      email: personal<Fixed<string>>(),
      email_typed: personal<string>(),
      consent_version: plain<string>(),
      /** Null if the visitor didn't tick the box for news. */
      news_consent_version: plain<string | null>(),
      client_address: personal<string>(),
      user_agent: personal<string | null>(),
      attribution: personal<Fixed<string>>(),
      /** Any of `free-mail` and `disposable`, separated by a space. */
      flags: personal<Fixed<string>>(),
      /** Null if the page had no variants. */
      variant: plain<Fixed<string | null>>(),
      created_at: plain<Fixed<number>>(),
      /** Time of form and consent. Sending the same form again doesn't change it. */
      given_at: plain<number>(),
      asked_at: plain<number>(),
      /** Can be 0, because challenges for one e-mail address can share a code. */
      codes_sent: plain<number>(),
      wrong_attempts: plain<Generated<number>>(),
      expires_at: plain<number>(),
      verified_at: plain<Generated<number | null>>(),
    },
  }),
  /** The digits aren't stored, but derived from the ID. */
  codes: table({
    isAbout: hasEmail,
    erasure: 'custom',
    expiry: 'custom',
    columns: {
      id: link<Fixed<string>>(),
      submission_id: link<Erasable<string | null>>(),
      email: personal<Erasable<string>>(),
      client_address: personal<Erasable<string>>(),
      secret_id: plain<Fixed<string>>(),
      created_at: plain<Fixed<number>>(),
      expires_at: plain<number>(),
      /** Set when the code is entered, but not when it is replaced. */
      used_at: plain<Generated<number | null>>(),
    },
  }),
  outbox: table({
    // Each part of the union has an index, except the last: only a Turkish database, where lower('I') is a dotless i, runs it.
    // With "or", PostgreSQL would scan the whole table.
    isAbout: (email) => sql<boolean>`id in (
      select id from outbox where lower(recipient) = ${email}
      union all select o.id from outbox o join codes c on c.id = o.code_id where c.email = ${email}
      union all select id from outbox where lower('I') <> 'i' and lower(replace(recipient, 'I', 'i')) = ${email}
    )`,
    erasure: 'delete',
    expiry: { column: 'id', cutoff: 'mail' },
    columns: {
      ...jobColumns<OutboxState>(),
      /** The mail server's last reply, which often contains the e-mail address. */
      reply: personal<Generated<string | null>>(),
      kind: plain<Fixed<string>>(),
      /** As JSON, without the digits of the code. */
      payload: personal<Fixed<string>>(),
      code_id: link<Fixed<string | null>>(),
      recipient: personal<Fixed<string>>(),
      /** Result of {@link networkOf}. Null for notices. */
      network: personal<Fixed<string | null>>(),
      /** Domain in lower case. */
      recipient_domain: personal<Fixed<string | null>>(),
      /** A network that requests many mails gets later turns. */
      turn_at: plain<Generated<number>>(),
      /** `4xx`, `stalled` after silence, or the error's name. */
      error_class: plain<Generated<string | null>>(),
    },
  }),
  webhook_events: table({
    isAbout: isOfLead,
    erasure: 'custom',
    expiry: { column: 'id', cutoff: 'mail' },
    columns: {
      ...jobColumns<WebhookState>(),
      /** Status of the last error, without the receiver's text. */
      reply: plain<Generated<string | null>>(),
      type: plain<Fixed<LeadEventType>>(),
      lead_id: link<Fixed<string>>(),
      /** Hash of the URL, which is secret. */
      endpoint: plain<Fixed<string>>(),
      position: plain<Fixed<number>>(),
      /** As JSON; empty once sent. */
      payload: personal<string>(),
      /** Time of the first attempt, or of the operator's retry. */
      queued_at: plain<number>(),
    },
  }),
  leads: table({
    isAbout: hasEmail,
    erasure: 'custom',
    columns: {
      ...answerColumns(),
      id: link<Fixed<string>>(),
      email: personal<Fixed<string>>(),
      first_verified_at: plain<Fixed<number>>(),
      last_verified_at: plain<number>(),
      attribution: personal<Fixed<string>>(),
      flags: personal<Fixed<string>>(),
      variant: plain<Fixed<string | null>>(),
      first_read_at: plain<ColumnType<number | null, number | null | undefined, number>>(),
    },
  }),
  /** A verification adds a receipt for each ticked box, so only those for the guide count verifications. */
  consent_receipts: table({
    isAbout: isOfLead,
    erasure: 'delete',
    columns: {
      id: link<Fixed<string>>(),
      lead_id: link<Fixed<string>>(),
      submission_id: link<Fixed<string>>(),
      purpose: plain<Fixed<ConsentPurpose>>(),
      consent_version: plain<Fixed<string>>(),
      given_at: plain<Fixed<number>>(),
      verified_at: plain<Fixed<number>>(),
      client_address: personal<Fixed<string>>(),
      verified_from_address: personal<Fixed<string>>(),
      user_agent: personal<Fixed<string | null>>(),
      /** 1 if the code was entered in the browser that sent the form, otherwise 0. */
      same_browser: plain<Fixed<number>>(),
    },
  }),
  withdrawals: table({
    isAbout: isOfLead,
    erasure: 'delete',
    columns: {
      id: link<Fixed<string>>(),
      lead_id: link<Fixed<string>>(),
      way: plain<Fixed<WithdrawalWay>>(),
      withdrawn_at: plain<Fixed<number>>(),
      client_address: personal<Fixed<string | null>>(),
      user_agent: personal<Fixed<string | null>>(),
    },
  }),
  suppression_removals: table({
    isAbout: isOfLead,
    erasure: 'delete',
    columns: {
      id: link<Fixed<string>>(),
      lead_id: link<Fixed<string>>(),
      reasons: plain<Fixed<string>>(),
      note: personal<Fixed<string>>(),
      removed_at: plain<Fixed<number>>(),
    },
  }),
  consent_chain: table({
    key: ['position'],
    isAbout: (email) => sql<boolean>`row_id in (
      select r.id from consent_receipts r join leads l on l.id = r.lead_id where l.email = ${email}
      union all select w.id from withdrawals w join leads l on l.id = w.lead_id where l.email = ${email}
      union all select x.id from suppression_removals x join leads l on l.id = x.lead_id where l.email = ${email}
    )`,
    erasure: 'custom',
    columns: {
      position: plain<Fixed<number>>(),
      kind: plain<Fixed<'consent' | 'withdrawal' | 'removal' | 'erasure' | 'acceptance'>>(),
      /** Kept when the row is erased. An acceptance has a number. */
      row_id: link<Fixed<string>>(),
      content: personal<Erasable<string | null>>(),
      /** Deleted with the content, so the hash reveals nothing. */
      salt: plain<Erasable<string | null>>(),
      content_hash: plain<Fixed<string>>(),
      previous: plain<Fixed<string>>(),
      /** Hash of all columns above, except content and salt. */
      hash: plain<Fixed<string>>(),
      sealed_at: plain<Fixed<number>>(),
    },
  }),
  /** Has one row, whose hash covers all entries. */
  consent_chain_head: table({
    isFilledAtStart: true,
    columns: {
      id: plain<Fixed<string>>(),
      position: plain<number>(),
      hash: plain<string>(),
      /** HMAC of position and hash. The key is derived from APP_SECRET. */
      signature: plain<string>(),
      signed_at: plain<number>(),
    },
  }),
  exported_leads: table({
    key: ['lead_id', 'export_name'],
    isAbout: isOfLead,
    erasure: 'delete',
    columns: {
      lead_id: link<Fixed<string>>(),
      export_name: plain<Fixed<string>>(),
      exported_at: plain<Fixed<number>>(),
    },
  }),
  corrections: table({
    isAbout: isOfLead,
    erasure: 'delete',
    columns: {
      ...correctionColumns(),
      lead_id: link<Fixed<string>>(),
    },
  }),
  /** Contacts imported from another tool, not verified here. Missing answers are empty. */
  imported_leads: table({
    isAbout: hasEmail,
    erasure: 'delete',
    columns: {
      ...answerColumns(),
      id: link<Fixed<string>>(),
      email: personal<Fixed<string>>(),
      /** In the operator's words. */
      consent_source: personal<Fixed<string>>(),
      consent_given_at: plain<Fixed<number | null>>(),
      file_name: personal<Fixed<string>>(),
      imported_at: plain<Fixed<number>>(),
    },
  }),
  imported_corrections: table({
    isAbout: (email) => sql<boolean>`imported_id in (select id from imported_leads where email = ${email})`,
    erasure: 'delete',
    columns: {
      ...correctionColumns(),
      imported_id: link<Fixed<string>>(),
    },
  }),
  mail_domains: table({
    key: ['domain'],
    expiry: 'custom',
    columns: {
      domain: personal<Fixed<string>>(),
      mx_host: personal<string | null>(),
      looked_up_at: plain<number>(),
    },
  }),
  /** Blocks all mail except requested codes. */
  suppressions: table({
    key: ['address_key', 'reason'],
    isAbout: hasEmail,
    erasure: 'custom',
    expiry: 'custom',
    columns: {
      /** A pseudonym (server/secrets/secrets.ts). Even with the secret, it only shows whether a known e-mail address is listed. */
      address_key: plain<Fixed<string>>(),
      reason: plain<Fixed<SuppressionReason>>(),
      email: personal<Erasable<string | null>>(),
      note: personal<Erasable<string | null>>(),
      created_at: plain<number>(),
    },
  }),
  limit_windows: table({
    key: ['key'],
    expiry: { column: 'ends_at', cutoff: 'windows' },
    columns: {
      /** An IP address for an hour, or the pseudonym of an e-mail address for at most 30 days. */
      key: personal<Fixed<string>>(),
      started_at: plain<number>(),
      ends_at: plain<number>(),
      count: plain<number>(),
    },
  }),
  funnel_counts: table({
    key: ['day', 'step', 'source'],
    expiry: { column: 'day', cutoff: 'funnel' },
    columns: {
      /** Days since 1970, in the time zone at the time of counting. */
      day: plain<Fixed<number>>(),
      step: plain<Fixed<FunnelStep>>(),
      source: plain<Fixed<string>>(),
      count: plain<number>(),
    },
  }),
  variant_counts: table({
    key: ['day', 'step', 'variant'],
    expiry: { column: 'day', cutoff: 'funnel' },
    columns: {
      day: plain<Fixed<number>>(),
      step: plain<Fixed<FunnelStep | VariantStep>>(),
      variant: plain<Fixed<string>>(),
      count: plain<number>(),
    },
  }),
  desk_sign_ins: table({
    isAbout: hasEmail,
    erasure: 'keep',
    expiry: { column: 'expires_at', cutoff: 'windows' },
    columns: {
      id: link<Fixed<string>>(),
      browser_id: personal<Fixed<string>>(),
      address_key: personal<Fixed<string>>(),
      /** Null if the e-mail address isn't in DESK_PEOPLE. Then no code is mailed or accepted. */
      email: personal<Fixed<string | null>>(),
      secret_id: plain<Fixed<string>>(),
      wrong_attempts: plain<Generated<number>>(),
      created_at: plain<Fixed<number>>(),
      expires_at: plain<number>(),
      mailed_at: plain<Generated<number | null>>(),
      used_at: plain<Generated<number | null>>(),
    },
  }),
  /** Roles aren't stored. Each request reads them from DESK_PEOPLE. */
  desk_sessions: table({
    isAbout: hasEmail,
    erasure: 'keep',
    expiry: { column: 'ends_at', cutoff: 'windows' },
    columns: {
      id: link<Fixed<string>>(),
      /** HMAC-SHA-256 of the token and the row (desk/server/auth/sessions.ts). */
      token_hash: link<Fixed<string>>(),
      email: personal<Fixed<string>>(),
      begun_at: plain<Fixed<number>>(),
      ends_at: plain<Fixed<number>>(),
      client_address: personal<Fixed<string>>(),
      browser: personal<Fixed<string>>(),
    },
  }),
  /** A passkey works only while its e-mail address is in DESK_PEOPLE. */
  desk_passkeys: table({
    isAbout: hasEmail,
    erasure: 'keep',
    columns: {
      id: link<Fixed<string>>(),
      email: personal<Fixed<string>>(),
      name: personal<Fixed<string>>(),
      public_key: personal<string>(),
      /** Helps to detect copied passkeys. */
      counter: plain<number>(),
      created_at: plain<Fixed<number>>(),
      used_at: plain<Generated<number | null>>(),
    },
  }),
  desk_log: table({
    isAbout: (email) => sql<boolean>`(about = ${email} or who = ${email})`,
    erasure: 'custom',
    expiry: { column: 'id', cutoff: 'unverified' },
    columns: {
      id: link<Fixed<string>>(),
      at: plain<Fixed<number>>(),
      who: personal<Fixed<string>>(),
      action: plain<Fixed<string>>(),
      /** An e-mail address, or the pseudonym of an erased one (tables/desk-log.ts). */
      about: personal<Erasable<string | null>>(),
      details: plain<Fixed<string>>(),
      client_address: personal<Fixed<string>>(),
    },
  }),
} as const;

type Tables = typeof TABLES;
type TypeOf<Of> = Of extends Column<infer Type> ? Type : never;
export type Schema = {
  [Table in keyof Tables]: {
    [Name in keyof Tables[Table]['columns']]: TypeOf<Tables[Table]['columns'][Name]>;
  };
};

export type TablesWith<Part> = {
  [Table in keyof Tables]: Tables[Table] extends Part ? Table : never;
}[keyof Tables];

export const descriptionOf = (name: keyof Schema): Description<string> => TABLES[name];

export const keyOf = (name: keyof Schema): readonly string[] => descriptionOf(name).key ?? ['id'];

export const TABLE_NAMES = Object.keys(TABLES) as readonly (keyof Schema)[];

/**
 * Queries name the columns, because in PostgreSQL a prepared `select *` fails after a migration adds a column (decision
 * 0018).
 */
export const columnsOf = <Table extends keyof Schema>(name: Table): readonly (keyof Schema[Table])[] =>
  Object.keys(TABLES[name].columns) as (keyof Schema[Table])[];
