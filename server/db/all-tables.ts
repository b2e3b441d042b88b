// Listing, erasing and moving rows use this table. A test compares it with a migrated database.
import { sql, type RawBuilder } from 'kysely';

import type { Schema } from '#server/db/schema.ts';

/**
 * `personal`: says something about a person. `key`: links rows, and so a person. `not`: anonymous once personal columns are gone.
 */
type Kind = 'personal' | 'key' | 'not';

type Description<Table extends keyof Schema> = {
  readonly key: readonly (keyof Schema[Table] & string)[];
  /** Absent: no row is. */
  readonly isAbout?: (email: string) => RawBuilder<boolean>;
  readonly columns: Readonly<Record<keyof Schema[Table], Kind>>;
};

const hasEmail = (email: string) => sql<boolean>`email = ${email}`;
const isOfLead = (email: string) => sql<boolean>`lead_id in (select id from leads where email = ${email})`;

const JOB_COLUMNS = {
  id: 'key',
  state: 'not',
  attempts: 'not',
  due_at: 'not',
  leased_until: 'not',
  lease_id: 'not',
  created_at: 'not',
  finished_at: 'not',
} as const;

/** Each table after those it refers to. Add new tables and columns here, to queries/personal-data.ts and to queries/expiry.ts. */
export const TABLES = {
  consent_wordings: {
    key: ['version'],
    columns: { version: 'key', text: 'not', first_used_at: 'not' },
  },
  known_secrets: {
    key: ['id'],
    columns: { id: 'not', first_used_at: 'not' },
  },
  submissions: {
    key: ['id'],
    isAbout: hasEmail,
    columns: {
      id: 'key',
      browser_id: 'personal',
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
      variant: 'not',
      created_at: 'not',
      given_at: 'not',
      asked_at: 'not',
      codes_sent: 'not',
      wrong_attempts: 'not',
      expires_at: 'not',
      verified_at: 'not',
    },
  },
  codes: {
    key: ['id'],
    isAbout: hasEmail,
    columns: {
      id: 'key',
      submission_id: 'key',
      email: 'personal',
      client_address: 'personal',
      secret_id: 'not',
      created_at: 'not',
      expires_at: 'not',
      used_at: 'not',
    },
  },
  outbox: {
    key: ['id'],
    // Each half has an index; joined with "or", PostgreSQL would scan every mail.
    isAbout: (email) => sql<boolean>`id in (
      select id from outbox where lower(recipient) = ${email}
      union all select o.id from outbox o join codes c on c.id = o.code_id where c.email = ${email}
    )`,
    columns: {
      ...JOB_COLUMNS,
      kind: 'not',
      payload: 'personal',
      code_id: 'key',
      recipient: 'personal',
      network: 'personal',
      recipient_domain: 'personal',
      turn_at: 'not',
      // Mail servers often repeat the address.
      reply: 'personal',
      error_class: 'not',
    },
  },
  leads: {
    key: ['id'],
    isAbout: hasEmail,
    columns: {
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
  },
  consent_receipts: {
    key: ['id'],
    isAbout: isOfLead,
    columns: {
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
  },
  withdrawals: {
    key: ['id'],
    isAbout: isOfLead,
    columns: {
      id: 'key',
      lead_id: 'key',
      way: 'not',
      withdrawn_at: 'not',
      client_address: 'personal',
      user_agent: 'personal',
    },
  },
  suppression_removals: {
    key: ['id'],
    isAbout: isOfLead,
    columns: {
      id: 'key',
      lead_id: 'key',
      reasons: 'not',
      note: 'personal',
      removed_at: 'not',
    },
  },
  consent_chain: {
    key: ['position'],
    isAbout: (email) => sql<boolean>`row_id in (
      select r.id from consent_receipts r join leads l on l.id = r.lead_id where l.email = ${email}
      union all select w.id from withdrawals w join leads l on l.id = w.lead_id where l.email = ${email}
      union all select x.id from suppression_removals x join leads l on l.id = x.lead_id where l.email = ${email}
    )`,
    columns: {
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
  },
  consent_chain_head: {
    key: ['id'],
    columns: { id: 'not', position: 'not', hash: 'not', signature: 'not', signed_at: 'not' },
  },
  exported_leads: {
    key: ['lead_id', 'export_name'],
    isAbout: isOfLead,
    columns: { lead_id: 'key', export_name: 'not', exported_at: 'not' },
  },
  corrections: {
    key: ['id'],
    isAbout: isOfLead,
    columns: {
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
  },
  imported_leads: {
    key: ['id'],
    isAbout: hasEmail,
    columns: {
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
  },
  imported_corrections: {
    key: ['id'],
    isAbout: (email) => sql<boolean>`imported_id in (select id from imported_leads where email = ${email})`,
    columns: {
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
  },
  mail_domains: {
    key: ['domain'],
    columns: { domain: 'personal', platform: 'not', mx_host: 'personal', looked_up_at: 'not' },
  },
  suppressions: {
    key: ['address_key', 'reason'],
    isAbout: hasEmail,
    columns: {
      // With the secret, it only shows whether a known address is listed.
      address_key: 'not',
      reason: 'not',
      email: 'personal',
      note: 'personal',
      created_at: 'not',
    },
  },
  webhook_events: {
    key: ['id'],
    isAbout: isOfLead,
    columns: {
      ...JOB_COLUMNS,
      type: 'not',
      lead_id: 'key',
      endpoint: 'not',
      position: 'not',
      payload: 'personal',
      queued_at: 'not',
      // The status; never the receiver's words.
      reply: 'not',
    },
  },
  limit_windows: {
    key: ['key'],
    columns: {
      // An IP address for an hour, or an e-mail address's pseudonym for at most two days.
      key: 'personal',
      started_at: 'not',
      ends_at: 'not',
      count: 'not',
    },
  },
  funnel_counts: {
    key: ['day', 'step', 'source'],
    columns: { day: 'not', step: 'not', source: 'not', count: 'not' },
  },
  variant_counts: {
    key: ['day', 'step', 'variant'],
    columns: { day: 'not', step: 'not', variant: 'not', count: 'not' },
  },
  desk_sign_ins: {
    key: ['id'],
    isAbout: hasEmail,
    columns: {
      id: 'key',
      browser_id: 'personal',
      address_key: 'personal',
      email: 'personal',
      secret_id: 'not',
      wrong_attempts: 'not',
      created_at: 'not',
      expires_at: 'not',
      mailed_at: 'not',
      used_at: 'not',
    },
  },
  desk_sessions: {
    key: ['id'],
    isAbout: hasEmail,
    columns: {
      id: 'key',
      token_hash: 'key',
      email: 'personal',
      begun_at: 'not',
      ends_at: 'not',
      client_address: 'personal',
      browser: 'personal',
    },
  },
  desk_passkeys: {
    key: ['id'],
    isAbout: hasEmail,
    columns: {
      id: 'key',
      email: 'personal',
      name: 'personal',
      public_key: 'personal',
      counter: 'not',
      created_at: 'not',
      used_at: 'not',
    },
  },
  desk_log: {
    key: ['id'],
    isAbout: (email) => sql<boolean>`(about = ${email} or who = ${email})`,
    columns: {
      id: 'key',
      at: 'not',
      who: 'personal',
      deed: 'not',
      about: 'personal',
      details: 'not',
      client_address: 'personal',
    },
  },
} as const satisfies { readonly [Table in keyof Schema]: Description<Table> };

export const TABLE_NAMES = Object.keys(TABLES) as readonly (keyof Schema)[];

/**
 * Named columns, because a prepared `select *` fails in PostgreSQL once a migration adds a column
 * (docs/decisions/0018-optimise-statements-only-in-the-drivers.md).
 */
export const columnsOf = <Table extends keyof Schema>(table: Table): readonly (keyof Schema[Table])[] =>
  Object.keys(TABLES[table].columns) as (keyof Schema[Table])[];
