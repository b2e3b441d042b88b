// Who owns personal data: every column of every table is known here, with what it may tell about somebody. What is known
// about an address can be listed and erased, and what has had its time goes, a little at a time. A test compares this with
// the columns that the migrated database really has.
import { sql, type Kysely, type Selectable } from 'kysely';

import { lockAddress } from '#server/db/tables/challenges.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { eraseEntries, lockChain, type ChainSigner } from '#server/db/tables/consent-chain.ts';
import { deleteFunnelCounts } from '#server/db/tables/funnel-counts.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import { deleteEndedWindows } from '#server/db/tables/limit-windows.ts';
import type { Schema } from '#server/db/schema.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import { domainOf } from '#server/platform/domain-of.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { normaliseEmail } from '#shared/lead.ts';

/**
 * `personal`: tells something about somebody. `key`: ties rows to each other, and with them to somebody. `not`: tells nothing
 * about anybody once the personal columns are gone.
 */
type Kind = 'personal' | 'key' | 'not';

type Classification = { readonly [Table in keyof Schema]: Readonly<Record<keyof Schema[Table], Kind>> };

/** Every column. Whoever adds one says here what it is, and below how it is erased and when it expires. */
export const COLUMNS: Classification = {
  submissions: {
    id: 'key',
    challenge_id: 'key',
    name: 'personal',
    company: 'personal',
    email_typed: 'personal',
    email: 'personal',
    consent_version: 'not',
    client_address: 'personal',
    user_agent: 'personal',
    attribution: 'personal',
    flags: 'personal',
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
    notice: 'personal',
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
    // Mail servers like to repeat the address.
    reply: 'personal',
    error_class: 'not',
  },
  leads: {
    id: 'key',
    email: 'personal',
    name: 'personal',
    company: 'personal',
    first_verified_at: 'not',
    last_verified_at: 'not',
    attribution: 'personal',
    flags: 'personal',
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
    receipt_id: 'key',
    content: 'personal',
    salt: 'not',
    content_hash: 'not',
    hash: 'not',
    sealed_at: 'not',
    erased_by: 'not',
  },
  consent_chain_head: { id: 'not', position: 'not', hash: 'not', signature: 'not', signed_at: 'not' },
  exported_leads: { lead_id: 'key', export_name: 'not', exported_at: 'not' },
  corrections: {
    id: 'key',
    lead_id: 'key',
    name_before: 'personal',
    company_before: 'personal',
    name: 'personal',
    company: 'personal',
    corrected_at: 'not',
  },
  imported_leads: {
    id: 'key',
    email: 'personal',
    name: 'personal',
    company: 'personal',
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
    name: 'personal',
    company: 'personal',
    corrected_at: 'not',
  },
  // Some domains have one mailbox.
  mail_domains: { domain: 'personal', platform: 'not', mx_host: 'personal', looked_up_at: 'not' },
  suppressions: {
    // Tells whether an address that somebody knows already is in the list, to whoever has the secret.
    address_key: 'not',
    reason: 'not',
    email: 'personal',
    // Mail servers like to repeat the address.
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
};

/** The tables whose rows are about an e-mail address, those that refer to others first. */
const ABOUT_AN_ADDRESS = [
  'consent_chain',
  'suppressions',
  'withdrawals',
  'exported_leads',
  'corrections',
  'webhook_events',
  'consent_receipts',
  'leads',
  'imported_corrections',
  'imported_leads',
  'submissions',
  'outbox',
  'codes',
  'challenges',
] as const satisfies readonly (keyof Schema)[];
type AboutAnAddress = (typeof ABOUT_AN_ADDRESS)[number];

/** All rows about an address, by table. */
export type PersonalData = { readonly [Table in AboutAnAddress]: readonly Selectable<Schema[Table]>[] };

/** Which rows of a table are about an address. */
const isAbout = (table: AboutAnAddress, email: string) => {
  switch (table) {
    case 'consent_chain':
      return sql<boolean>`receipt_id in (
        select r.id from consent_receipts r join leads l on l.id = r.lead_id where l.email = ${email}
        union all select w.id from withdrawals w join leads l on l.id = w.lead_id where l.email = ${email}
      )`;
    case 'exported_leads':
    case 'corrections':
    case 'withdrawals':
    case 'webhook_events':
    case 'consent_receipts':
      return sql<boolean>`lead_id in (select id from leads where email = ${email})`;
    case 'imported_corrections':
      return sql<boolean>`imported_id in (select id from imported_leads where email = ${email})`;
    case 'outbox':
      // Mail goes to the address as it was typed, its domain in ASCII.
      return sql<boolean>`(lower(recipient) = ${email} or code_id in (select id from codes where email = ${email}))`;
    case 'challenges':
      // The same address as its submissions; they have an index.
      return sql<boolean>`id in (select challenge_id from submissions where email = ${email} union select challenge_id from codes where email = ${email})`;
    case 'leads':
    case 'imported_leads':
    case 'suppressions':
    case 'submissions':
    case 'codes':
      return sql<boolean>`email = ${email}`;
  }
};

/**
 * Lists what is known about an address. Limits are not listed: they know pseudonyms and networks, for two days at most.
 * @param typedEmail in any case of letters
 */
export async function listPersonalData(db: Db, typedEmail: string): Promise<PersonalData> {
  const email = normaliseEmail(typedEmail);
  const rowsOf = <Table extends AboutAnAddress>(table: Table) =>
    (db as unknown as Kysely<Record<Table, Schema[Table]>>)
      .selectFrom(table as never)
      .selectAll()
      .where(isAbout(table, email))
      .execute() as Promise<Selectable<Schema[Table]>[]>;
  return {
    consent_chain: await rowsOf('consent_chain'),
    suppressions: await rowsOf('suppressions'),
    withdrawals: await rowsOf('withdrawals'),
    exported_leads: await rowsOf('exported_leads'),
    corrections: await rowsOf('corrections'),
    webhook_events: await rowsOf('webhook_events'),
    consent_receipts: await rowsOf('consent_receipts'),
    leads: await rowsOf('leads'),
    imported_corrections: await rowsOf('imported_corrections'),
    imported_leads: await rowsOf('imported_leads'),
    submissions: await rowsOf('submissions'),
    outbox: await rowsOf('outbox'),
    codes: await rowsOf('codes'),
    challenges: await rowsOf('challenges'),
  };
}

/** The browser of an erased challenge: no cookie names it. */
const NO_BROWSER = '';
const NO_ADDRESS = '';

/**
 * Erases an address everywhere, in one transaction. Sessions of its lead end, mail to it is not sent. When codes were made
 * stays, under a pseudonym, so that asking again begins no new day: these rows expire like others. That it must not be mailed, nor
 * brought back by anybody but its owner, stays for good, under the same.
 * @param pseudonyms of the address (server/secrets/pseudonyms.ts), the newest first
 * @param signer of the chain of consents, into which the erasure goes
 * @param onLeadErased called in the transaction when it was a lead's. inHandUntil: what was to be told about that lead may be on
 *   its way until then; milliseconds since 1970
 * @returns how many rows of each table were erased
 */
export async function erasePersonalData(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  {
    email: typedEmail,
    pseudonyms,
    signer,
    now,
    onLeadErased,
  }: {
    email: string;
    pseudonyms: readonly [string, ...string[]];
    signer: ChainSigner;
    now: number;
    onLeadErased?: (tx: Db, lead: { leadId: string; inHandUntil: number | null }) => Promise<void>;
  },
): Promise<Readonly<Record<AboutAnAddress, number>>> {
  const email = normaliseEmail(typedEmail);
  const [pseudonym] = pseudonyms;
  return db.transaction().execute(async (tx) => {
    // A form of this address, or a code, may be under way.
    await lockAddress(tx, engine, email);
    // So may a consent on its way into the chain.
    await lockChain(tx, engine);
    const erase = async (
      table:
        | 'exported_leads'
        | 'corrections'
        | 'withdrawals'
        | 'consent_receipts'
        | 'outbox'
        | 'submissions'
        | 'imported_corrections'
        | 'imported_leads',
    ) => {
      const { numDeletedRows } = await tx
        .deleteFrom(table)
        .where(isAbout(table, email))
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    };
    // Its place in the chain stays, so that the others can still be checked.
    const chain = await eraseEntries(tx, { which: isAbout('consent_chain', email), signer, now });
    const suppressions = await tx
      .updateTable('suppressions')
      .set({ email: null, note: null })
      .where(isAbout('suppressions', email))
      .executeTakeFirstOrThrow();
    await suppress(tx, { keys: pseudonyms, reason: 'erased', email: null, now });
    const withdrawals = await erase('withdrawals');
    const exportedLeads = await erase('exported_leads');
    const corrections = await erase('corrections');
    const receipts = await erase('consent_receipts');
    const gone = await tx.deleteFrom('leads').where(isAbout('leads', email)).returning('id').execute();
    const goneIds = gone.map(({ id }) => id);
    // After the lead: whoever queued one meanwhile held it, and nobody finds it any more.
    const told = await tx
      .deleteFrom('webhook_events')
      .where('lead_id', 'in', goneIds.length === 0 ? [''] : goneIds)
      .returning('leased_until')
      .execute();
    const inHand = told.map((event) => event.leased_until).filter((until) => until !== null);
    const inHandUntil = inHand.length === 0 ? null : Math.max(...inHand);
    for (const leadId of goneIds) await onLeadErased?.(tx, { leadId, inHandUntil });
    const importedCorrections = await erase('imported_corrections');
    const importedLeads = await erase('imported_leads');
    // If others have an address there, the next look-up finds it again.
    await tx.deleteFrom('mail_domains').where('domain', '=', domainOf(email)).execute();
    const outbox = await erase('outbox');
    const challenges = await tx
      .updateTable('challenges')
      .set((eb) => ({
        browser_id: NO_BROWSER,
        email: pseudonym,
        // It goes with those that came to nothing.
        verified_at: null,
        expires_at: eb.case().when('expires_at', '>', now).then(now).else(eb.ref('expires_at')).end(),
      }))
      .where(isAbout('challenges', email))
      .executeTakeFirstOrThrow();
    const codes = await tx
      .updateTable('codes')
      .set((eb) => ({
        email: pseudonym,
        client_address: NO_ADDRESS,
        expires_at: eb.case().when('expires_at', '>', now).then(now).else(eb.ref('expires_at')).end(),
      }))
      .where(isAbout('codes', email))
      .executeTakeFirstOrThrow();
    return {
      consent_chain: chain,
      suppressions: Number(suppressions.numUpdatedRows),
      withdrawals,
      exported_leads: exportedLeads,
      corrections,
      webhook_events: told.length,
      consent_receipts: receipts,
      leads: gone.length,
      imported_corrections: importedCorrections,
      imported_leads: importedLeads,
      submissions: await erase('submissions'),
      outbox,
      codes: Number(codes.numUpdatedRows),
      challenges: Number(challenges.numUpdatedRows),
    };
  });
}

/** Up to when what was made has had its time. Milliseconds since 1970; null: it stays. */
export type Cutoffs = {
  /** Forms that nobody verified, challenges and codes. */
  readonly unverified: number | null;
  /** Mail and what is told to webhooks, whatever became of it. */
  readonly mail: number | null;
  /** Windows that have ended by then. */
  readonly windows: number;
  /** Counts of the funnel, by whole days. */
  readonly funnel: number;
};

/** Where housekeeping has come to in what takes it several calls. */
export type Place = {
  /** In the verified challenges. */
  verifiedUntil: number;
  domains: DomainPlace;
};
type DomainPlace = {
  /** When domains were looked through; milliseconds since 1970. */
  lookedAt: number;
  /** Those that nobody was found to have so far; null while nothing is looked through. */
  unowned: Set<string> | null;
  /** The tables that are still to be looked through, and how far the first has been. */
  tables: readonly (typeof WITH_ADDRESSES)[number][];
  after: string;
};

/** The tables in which somebody may have a domain. */
const WITH_ADDRESSES = ['leads', 'codes', 'imported_leads'] as const;

/** At the start of a process. */
export const newPlace = (): Place => ({
  verifiedUntil: 0,
  domains: { lookedAt: 0, unowned: null, tables: [], after: '' },
});

export type ExpiringTable =
  | 'outbox'
  | 'webhook_events'
  | 'codes'
  | 'submissions'
  | 'challenges'
  | 'suppressions'
  | 'limit_windows'
  | 'mail_domains'
  | 'funnel_counts';

type Step = {
  readonly table: ExpiringTable;
  /** Deletes at most so many rows. `done` when there are no more. */
  readonly some: (tx: Db, most: number) => Promise<{ readonly deleted: number; readonly done: boolean }>;
};

/**
 * What has had its time, in steps that are repeated until each is done; rows that refer to others come first. Verified
 * submissions stay, and their challenges, leads and receipts with them.
 */
export function expirySteps({ unverified, mail, windows, funnel }: Cutoffs, place: Place): readonly Step[] {
  return [
    {
      table: 'limit_windows',
      some: async (tx, most) => doneBelow(most, await deleteEndedWindows(tx, { most, now: windows })),
    },
    {
      table: 'funnel_counts',
      some: async (tx, most) =>
        doneBelow(most, await deleteFunnelCounts(tx, { before: Math.floor(funnel / DAY_MS), most })),
    },
    ...(mail === null ? [] : [messagesStep('outbox', mail), messagesStep('webhook_events', mail)]),
    ...(unverified === null ? [] : unverifiedSteps(unverified, place)),
    // After them: who has an address, or a domain, may have gone.
    ...(unverified === null ? [] : [suppressionStep(unverified)]),
    domainStep(windows, place.domains),
  ];
}

const doneBelow = (most: number, deleted: number) => ({ deleted, done: deleted < most });

/**
 * Anybody can type an address that does not exist: once nothing else is held about it, its pseudonym is enough to keep mail away.
 * What the operator noted stays as it is, and who unsubscribed is a lead.
 */
const suppressionStep = (until: number): Step => ({
  table: 'suppressions',
  some: async (tx, most) => {
    const isTold = sql<boolean>`email is not null and reason in ('bounced', 'complained') and created_at < ${until}`;
    const { numUpdatedRows } = await tx
      .updateTable('suppressions')
      .set({ email: null, note: null })
      .where(isTold)
      .where(
        sql<boolean>`email in (
          select s.email from suppressions s
          where s.email is not null and s.reason in ('bounced', 'complained') and s.created_at < ${until}
          and not exists (select 1 from leads where email = s.email)
          and not exists (select 1 from imported_leads where email = s.email)
          and not exists (select 1 from submissions where email = s.email)
          limit ${most}
        )`,
      )
      .executeTakeFirstOrThrow();
    return doneBelow(most, Number(numUpdatedRows));
  },
});

/** Looked through in one step, for each row that may be deleted in one. */
const ADDRESSES_PER_ROW = 10;

/**
 * Domains that nobody has any more, once a day. To find them takes a look at each address, a few thousand in a step; those that
 * nobody was found to have at the end of it go. One that somebody comes to have meanwhile is looked up anew.
 */
const domainStep = (now: number, place: DomainPlace): Step => ({
  table: 'mail_domains',
  some: async (tx, most) => {
    if (place.unowned === null) {
      if (now - place.lookedAt < DAY_MS) return { deleted: 0, done: true };
      const rows = await tx.selectFrom('mail_domains').select('domain').execute();
      place.unowned = new Set(rows.map(({ domain }) => domain));
      place.tables = WITH_ADDRESSES;
      place.after = '';
    }
    const [table] = place.tables;
    if (table !== undefined && place.unowned.size > 0) {
      const page = await tx
        .selectFrom(table)
        .select(['id', 'email'])
        .where('id', '>', place.after)
        .orderBy('id')
        .limit(most * ADDRESSES_PER_ROW)
        .execute();
      for (const { email } of page) place.unowned.delete(domainOf(email));
      place.after = page.at(-1)?.id ?? '';
      if (page.length === 0) place.tables = place.tables.slice(1);
      return { deleted: 0, done: false };
    }
    const going = [...place.unowned].slice(0, most);
    for (const domain of going) place.unowned.delete(domain);
    const done = place.unowned.size === 0;
    if (done) {
      place.unowned = null;
      place.lookedAt = now;
    }
    if (going.length === 0) return { deleted: 0, done };
    const { numDeletedRows } = await tx
      .deleteFrom('mail_domains')
      .where('domain', 'in', going)
      .executeTakeFirstOrThrow();
    return { deleted: Number(numDeletedRows), done };
  },
});

const messagesStep = (table: 'outbox' | 'webhook_events', until: number): Step => ({
  table,
  some: async (tx, most) => {
    const { numDeletedRows } = await tx
      .deleteFrom(table)
      // Ids begin with their time: the oldest come first in the primary key.
      .where('id', 'in', (eb) =>
        eb.selectFrom(table).select('id').where('id', '<', lowestIdAt(until)).orderBy('id').limit(most),
      )
      .executeTakeFirstOrThrow();
    return doneBelow(most, Number(numDeletedRows));
  },
});

function unverifiedSteps(until: number, place: Place): Step[] {
  const hasReceipt = sql<boolean>`exists (select 1 from consent_receipts where submission_id = s.id)`;
  return [
    {
      table: 'codes',
      some: async (tx, most) => {
        const oldest = sql<string>`select id from codes where id < ${lowestIdAt(until)} order by id limit ${most}`;
        // Mail is never kept for longer than its code; what has no time of its own goes here.
        await tx
          .deleteFrom('outbox')
          .where(sql<boolean>`code_id in (${oldest})`)
          .execute();
        const { numDeletedRows } = await tx
          .deleteFrom('codes')
          .where(sql<boolean>`id in (${oldest})`)
          .executeTakeFirstOrThrow();
        return doneBelow(most, Number(numDeletedRows));
      },
    },
    {
      table: 'submissions',
      some: async (tx, most) => {
        const { numDeletedRows } = await tx
          .deleteFrom('submissions')
          .where(
            sql<boolean>`id in (
              select s.id from challenges c join submissions s on s.challenge_id = c.id
              where c.verified_at is null and c.expires_at < ${until} order by c.expires_at, c.id limit ${most}
            )`,
          )
          .executeTakeFirstOrThrow();
        return doneBelow(most, Number(numDeletedRows));
      },
    },
    {
      table: 'challenges',
      some: async (tx, most) => {
        const { numDeletedRows } = await tx
          .deleteFrom('challenges')
          .where(
            sql<boolean>`id in (
              select c.id from challenges c where c.verified_at is null and c.expires_at < ${until}
              and not exists (select 1 from submissions where challenge_id = c.id)
              and not exists (select 1 from codes where challenge_id = c.id)
              order by c.expires_at, c.id limit ${most}
            )`,
          )
          .executeTakeFirstOrThrow();
        return doneBelow(most, Number(numDeletedRows));
      },
    },
    {
      // Whoever pressed Resend sent the form more than once; one of them was verified. Nothing is added to a verified
      // challenge, so each is looked at once in the life of a process.
      table: 'submissions',
      some: async (tx, most) => {
        const last = await tx
          .selectFrom('challenges')
          .select('verified_at')
          .where('verified_at', '>', place.verifiedUntil)
          .where('verified_at', '<', until)
          .orderBy('verified_at')
          .offset(most - 1)
          .limit(1)
          .executeTakeFirst();
        const pageEnd = last?.verified_at ?? until - 1;
        if (pageEnd <= place.verifiedUntil) return { deleted: 0, done: true };
        const { numDeletedRows } = await tx
          .deleteFrom('submissions')
          .where(
            sql<boolean>`id in (
              select s.id from challenges c join submissions s on s.challenge_id = c.id
              where c.verified_at > ${place.verifiedUntil} and c.verified_at <= ${pageEnd}
              and not ${hasReceipt} limit ${most}
            )`,
          )
          .executeTakeFirstOrThrow();
        const deleted = Number(numDeletedRows);
        if (deleted === most) return { deleted, done: false };
        place.verifiedUntil = pageEnd;
        return { deleted, done: last === undefined };
      },
    },
  ];
}

/**
 * Takes one step, in a transaction of its own.
 * @returns null when another process is at it
 */
export async function takeStep(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  step: Step,
  most: number,
): Promise<{ readonly deleted: number; readonly done: boolean } | null> {
  return db.transaction().execute(async (tx) => {
    if (engine === 'postgres') {
      const { rows } = await sql<{ ours: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended('housekeeping', 0)) as ours
      `.execute(tx);
      if (rows[0]?.ours !== true) return null;
    }
    return step.some(tx, most);
  });
}
