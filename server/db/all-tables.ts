// Every table, described once: types, migrations, erasing, expiry and moving follow from it or are compared with it by tests.
// Times are milliseconds since 1970 (UTC). IDs are UUIDs of version 7, which sort by time.
import { sql, type ColumnType, type Generated, type RawBuilder } from 'kysely';

/** Never updated. */
type Fixed<Type> = ColumnType<Type, Type, never>;

/** Updated only by an erasure (queries/personal-data.ts). */
type Erasable<Type> = ColumnType<Type, Type, Type>;

/**
 * `personal`: says something about a person. `link`: links rows, and so a person. `plain`: anonymous once personal columns are
 * gone.
 */
type Column<Type> = { readonly kind: 'personal' | 'link' | 'plain'; readonly type?: () => Type };
const personal = <Type>(): Column<Type> => ({ kind: 'personal' });
const link = <Type>(): Column<Type> => ({ kind: 'link' });
const plain = <Type>(): Column<Type> => ({ kind: 'plain' });

type Description<Name extends string> = {
  /** Primary key. */
  readonly key: readonly Name[];
  /** Absent: no row is about an e-mail address. */
  readonly isAbout?: (email: string) => RawBuilder<boolean>;
  /** Of rows about an address. `custom`: see queries/personal-data.ts. `keep`: a desk user's account isn't part of the lead. */
  readonly erasure?: 'delete' | 'custom' | 'keep';
  /** Rows are deleted once the column is before the cutoff. `custom`: see queries/expiry.ts. Absent: kept until erased. */
  readonly expiry?: { readonly column: Name; readonly cutoff: keyof Cutoffs } | 'custom';
  /** A first start writes rows, so a move may replace them. */
  readonly isFilledAtStart?: true;
};

/** Older rows expire. Milliseconds since 1970; null: keep. */
export type Cutoffs = {
  readonly unverified: number | null;
  readonly mail: number | null;
  /** By their end; also the present, for daily checks. */
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
  /** To custom questions: JSON (shared/own-fields.ts); null without any. */
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

/** server/jobs/queue.ts leases and ends jobs. */
const jobColumns = <State extends string>() => ({
  id: link<Fixed<string>>(),
  state: plain<Generated<State>>(),
  attempts: plain<Generated<number>>(),
  /** Earliest next attempt. */
  due_at: plain<number>(),
  leased_until: plain<Generated<number | null>>(),
  lease_id: plain<Generated<string | null>>(),
  created_at: plain<Fixed<number>>(),
  finished_at: plain<Generated<number | null>>(),
});

/** `dropped`: irrelevant at its turn, such as an expired code. `failed`: refused for good. */
export type OutboxState = 'queued' | 'sent' | 'dropped' | 'failed';

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

/** `by-hand`: added by the operator. `erased`: only its owner may lift it. */
export type SuppressionReason = 'unsubscribed' | 'complained' | 'bounced' | 'by-hand' | 'erased';

/** `page`: the page's button. `one-click`: the mail program's button (RFC 8058). */
export type WithdrawalWay = 'page' | 'one-click' | 'complaint' | 'by-hand';

/** Each table after those it refers to; an erasure goes from the last to the first. */
export const TABLES = {
  /** A new wording is a new row. The row NOT_STATED is reserved. */
  consent_wordings: table({
    key: ['version'],
    isFilledAtStart: true,
    columns: {
      version: link<Fixed<string>>(),
      text: plain<Fixed<string>>(),
      first_used_at: plain<Fixed<number>>(),
    },
  }),
  /** The ID reveals nothing about the secret. */
  known_secrets: table({
    key: ['id'],
    isFilledAtStart: true,
    columns: {
      id: plain<Fixed<string>>(),
      first_used_at: plain<Fixed<number>>(),
    },
  }),
  /**
   * One browser's claim to one e-mail address, with its latest form. Not yet a lead, because anyone can type any address. Once
   * verified, it never changes.
   */
  submissions: table({
    key: ['id'],
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
      client_address: personal<string>(),
      user_agent: personal<string | null>(),
      /** JSON: campaign parameters of the page's URL. */
      attribution: personal<Fixed<string>>(),
      /** Any of `free-mail`, `disposable`, separated by spaces. */
      flags: personal<Fixed<string>>(),
      /** Null if there was only one page, or none was named. */
      variant: plain<Fixed<string | null>>(),
      created_at: plain<Fixed<number>>(),
      /** Time of form and consent; an identical resend doesn't change it. */
      given_at: plain<number>(),
      asked_at: plain<number>(),
      /** 0: it shares another challenge's code. */
      codes_sent: plain<number>(),
      wrong_attempts: plain<Generated<number>>(),
      expires_at: plain<number>(),
      verified_at: plain<Generated<number | null>>(),
    },
  }),
  /** Digits are derived, and stored nowhere. */
  codes: table({
    key: ['id'],
    isAbout: hasEmail,
    erasure: 'custom',
    expiry: 'custom',
    columns: {
      id: link<Fixed<string>>(),
      /** Null once the challenge was erased. */
      submission_id: link<Erasable<string | null>>(),
      /** A pseudonym once erased. */
      email: personal<Erasable<string>>(),
      client_address: personal<Erasable<string>>(),
      secret_id: plain<Fixed<string>>(),
      created_at: plain<Fixed<number>>(),
      /** A lifetime after mailing; earlier if no longer wanted. */
      expires_at: plain<number>(),
      /** Set only by an entry. */
      used_at: plain<Generated<number | null>>(),
    },
  }),
  /** Added in its cause's transaction. */
  outbox: table({
    key: ['id'],
    // Each half has an index; joined with "or", PostgreSQL would scan every mail.
    isAbout: (email) => sql<boolean>`id in (
      select id from outbox where lower(recipient) = ${email}
      union all select o.id from outbox o join codes c on c.id = o.code_id where c.email = ${email}
    )`,
    erasure: 'delete',
    expiry: { column: 'id', cutoff: 'mail' },
    columns: {
      ...jobColumns<OutboxState>(),
      /** An acceptance, or the newest failure's reason. Mail servers often repeat the address. */
      reply: personal<Generated<string | null>>(),
      /** One of server/mail/mail-worker.ts. */
      kind: plain<Fixed<string>>(),
      /** JSON. Never a code's digits. */
      payload: personal<Fixed<string>>(),
      /** A column, so a mail can be found by its code. */
      code_id: link<Fixed<string | null>>(),
      recipient: personal<Fixed<string>>(),
      /** From {@link networkOf}; null for a notice. */
      network: personal<Fixed<string | null>>(),
      /** In lower case. */
      recipient_domain: personal<Fixed<string | null>>(),
      /** A network that sends much gets later turns. */
      turn_at: plain<Generated<number>>(),
      /** 4xx for "not now", stalled for silence, or the error's name. */
      error_class: plain<Generated<string | null>>(),
    },
  }),
  /** One row per event and URL. */
  webhook_events: table({
    key: ['id'],
    isAbout: isOfLead,
    erasure: 'custom',
    expiry: { column: 'id', cutoff: 'mail' },
    columns: {
      ...jobColumns<WebhookState>(),
      /** The newest failure's status; never the receiver's words. */
      reply: plain<Generated<string | null>>(),
      type: plain<Fixed<LeadEventType>>(),
      lead_id: link<Fixed<string>>(),
      /** A hash, because the URL is secret. */
      endpoint: plain<Fixed<string>>(),
      /** Order among the lead's events. */
      position: plain<Fixed<number>>(),
      /** JSON; empty once sent. */
      payload: personal<string>(),
      /** First attempt, or when the operator retried it. */
      queued_at: plain<number>(),
    },
  }),
  leads: table({
    key: ['id'],
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
      /** Of the first verified form. */
      variant: plain<Fixed<string | null>>(),
      /** When the lead was first given the article. */
      first_read_at: plain<ColumnType<number | null, number | null | undefined, number>>(),
    },
  }),
  /** One row per verified submission, never changed. */
  consent_receipts: table({
    key: ['id'],
    isAbout: isOfLead,
    erasure: 'delete',
    columns: {
      id: link<Fixed<string>>(),
      lead_id: link<Fixed<string>>(),
      submission_id: link<Fixed<string>>(),
      consent_version: plain<Fixed<string>>(),
      given_at: plain<Fixed<number>>(),
      verified_at: plain<Fixed<number>>(),
      client_address: personal<Fixed<string>>(),
      verified_from_address: personal<Fixed<string>>(),
      user_agent: personal<Fixed<string | null>>(),
      /** 1: entered in the browser that sent the form. 0: in another, or without cookies. */
      same_browser: plain<Fixed<number>>(),
    },
  }),
  /** A lead withdrew consent. */
  withdrawals: table({
    key: ['id'],
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
  /** The operator lifted a lead's suppressions, because they were mistakes. */
  suppression_removals: table({
    key: ['id'],
    isAbout: isOfLead,
    erasure: 'delete',
    columns: {
      id: link<Fixed<string>>(),
      lead_id: link<Fixed<string>>(),
      /** Separated by spaces. */
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
      /** Even if the row was erased. An acceptance has a number. */
      row_id: link<Fixed<string>>(),
      /** JSON; null once erased. */
      content: personal<Erasable<string | null>>(),
      /** Deleted with the content; without it, the hash reveals nothing. */
      salt: plain<Erasable<string | null>>(),
      content_hash: plain<Fixed<string>>(),
      previous: plain<Fixed<string>>(),
      /** Of all columns above except content and salt. */
      hash: plain<Fixed<string>>(),
      sealed_at: plain<Fixed<number>>(),
    },
  }),
  /** One row. Each hash covers the entries before it. */
  consent_chain_head: table({
    key: ['id'],
    isFilledAtStart: true,
    columns: {
      id: plain<Fixed<string>>(),
      position: plain<number>(),
      hash: plain<string>(),
      /** HMAC of position and hash, with a key made from APP_SECRET. */
      signature: plain<string>(),
      signed_at: plain<number>(),
    },
  }),
  /** Leads already exported, so the next export of that name omits them. */
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
    key: ['id'],
    isAbout: isOfLead,
    erasure: 'delete',
    columns: {
      ...correctionColumns(),
      lead_id: link<Fixed<string>>(),
    },
  }),
  /** Imported from another tool, not verified here. Missing fields are empty. */
  imported_leads: table({
    key: ['id'],
    isAbout: hasEmail,
    erasure: 'delete',
    columns: {
      ...answerColumns(),
      id: link<Fixed<string>>(),
      email: personal<Fixed<string>>(),
      /** In the operator's words. */
      consent_source: personal<Fixed<string>>(),
      /** From the other tool; null if it didn't record it. */
      consent_given_at: plain<Fixed<number | null>>(),
      /** Without its folder. */
      file_name: personal<Fixed<string>>(),
      imported_at: plain<Fixed<number>>(),
    },
  }),
  imported_corrections: table({
    key: ['id'],
    isAbout: (email) => sql<boolean>`imported_id in (select id from imported_leads where email = ${email})`,
    erasure: 'delete',
    columns: {
      ...correctionColumns(),
      imported_id: link<Fixed<string>>(),
    },
  }),
  /** Cached DNS results of mail domains. */
  mail_domains: table({
    key: ['domain'],
    expiry: 'custom',
    columns: {
      domain: personal<Fixed<string>>(),
      platform: plain<string>(),
      /** First of the MX record. */
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
      /** A pseudonym (server/secrets/secrets.ts). With the secret, it only shows whether a known address is listed. */
      address_key: plain<Fixed<string>>(),
      reason: plain<Fixed<SuppressionReason>>(),
      /** Null once erased. */
      email: personal<Erasable<string | null>>(),
      /** A mail server's or the operator's words. */
      note: personal<Erasable<string | null>>(),
      /** Restarts with a new note about an erased address. */
      created_at: plain<number>(),
    },
  }),
  limit_windows: table({
    key: ['key'],
    expiry: { column: 'ends_at', cutoff: 'windows' },
    columns: {
      /** An IP address for an hour, or an e-mail address's pseudonym for at most two days. */
      key: personal<Fixed<string>>(),
      started_at: plain<number>(),
      ends_at: plain<number>(),
      count: plain<number>(),
    },
  }),
  /** By day and source. Nothing personal. */
  funnel_counts: table({
    key: ['day', 'step', 'source'],
    expiry: { column: 'day', cutoff: 'funnel' },
    columns: {
      /** Days since 1970, in UTC. */
      day: plain<Fixed<number>>(),
      /** One of shared/funnel.ts. */
      step: plain<Fixed<string>>(),
      source: plain<Fixed<string>>(),
      count: plain<number>(),
    },
  }),
  /** By day and variant. Nothing personal. */
  variant_counts: table({
    key: ['day', 'step', 'variant'],
    expiry: { column: 'day', cutoff: 'funnel' },
    columns: {
      /** Days since 1970, in UTC. */
      day: plain<Fixed<number>>(),
      /** One of shared/funnel.ts. */
      step: plain<Fixed<string>>(),
      variant: plain<Fixed<string>>(),
      count: plain<number>(),
    },
  }),
  /** Digits are derived, and stored nowhere. */
  desk_sign_ins: table({
    key: ['id'],
    isAbout: hasEmail,
    erasure: 'keep',
    expiry: { column: 'expires_at', cutoff: 'windows' },
    columns: {
      id: link<Fixed<string>>(),
      browser_id: personal<Fixed<string>>(),
      /** A pseudonym (server/secrets/secrets.ts). */
      address_key: personal<Fixed<string>>(),
      /** Null if not in DESK_PEOPLE: no code is mailed or accepted. */
      email: personal<Fixed<string | null>>(),
      secret_id: plain<Fixed<string>>(),
      wrong_attempts: plain<Generated<number>>(),
      created_at: plain<Fixed<number>>(),
      expires_at: plain<number>(),
      mailed_at: plain<Generated<number | null>>(),
      used_at: plain<Generated<number | null>>(),
    },
  }),
  /** The role is read from DESK_PEOPLE at each request. */
  desk_sessions: table({
    key: ['id'],
    isAbout: hasEmail,
    erasure: 'keep',
    expiry: { column: 'ends_at', cutoff: 'windows' },
    columns: {
      id: link<Fixed<string>>(),
      /** HMAC-SHA-256 of token and row, with a key made from APP_SECRET (desk/server/auth/sessions.ts). */
      token_hash: link<Fixed<string>>(),
      email: personal<Fixed<string>>(),
      begun_at: plain<Fixed<number>>(),
      ends_at: plain<Fixed<number>>(),
      client_address: personal<Fixed<string>>(),
      browser: personal<Fixed<string>>(),
    },
  }),
  /** Useless for anyone who isn't in DESK_PEOPLE. */
  desk_passkeys: table({
    key: ['id'],
    isAbout: hasEmail,
    erasure: 'keep',
    columns: {
      id: link<Fixed<string>>(),
      email: personal<Fixed<string>>(),
      name: personal<Fixed<string>>(),
      /** COSE, in base64url, and a signature (desk/server/auth/passkeys.ts). */
      public_key: personal<string>(),
      /** Reveals a copy. */
      counter: plain<number>(),
      created_at: plain<Fixed<number>>(),
      used_at: plain<Generated<number | null>>(),
    },
  }),
  desk_log: table({
    key: ['id'],
    isAbout: (email) => sql<boolean>`(about = ${email} or who = ${email})`,
    erasure: 'custom',
    expiry: { column: 'id', cutoff: 'unverified' },
    columns: {
      id: link<Fixed<string>>(),
      at: plain<Fixed<number>>(),
      /** Or one of desk/audit-log/audit-log.ts. */
      who: personal<Fixed<string>>(),
      /** One of desk/endpoints/auth.ts. */
      deed: plain<Fixed<string>>(),
      /** Or an erased address's pseudonym (tables/desk-log.ts). */
      about: personal<Erasable<string | null>>(),
      /** Never personal. */
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

/** Tables whose description has this part. */
export type TablesWith<Part> = {
  [Table in keyof Tables]: Tables[Table] extends Part ? Table : never;
}[keyof Tables];

export const descriptionOf = (name: keyof Schema): Description<string> => TABLES[name];

export const TABLE_NAMES = Object.keys(TABLES) as readonly (keyof Schema)[];

/**
 * Named columns, because a prepared `select *` fails in PostgreSQL once a migration adds a column
 * (docs/decisions/0018-optimise-statements-only-in-the-drivers.md).
 */
export const columnsOf = <Table extends keyof Schema>(name: Table): readonly (keyof Schema[Table])[] =>
  Object.keys(TABLES[name].columns) as (keyof Schema[Table])[];
