// What is known about an e-mail address: listed, and erased everywhere in one transaction.
import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely';

import { lockAddress } from '#server/db/tables/challenges.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { erasedName } from '#server/db/tables/desk-log.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import { domainOf } from '#server/platform/domain-of.ts';
import { normaliseEmail } from '#shared/lead.ts';

/** The tables whose rows are about an e-mail address, those that refer to others first. */
const ABOUT_AN_ADDRESS = [
  'consent_chain',
  'suppressions',
  'withdrawals',
  'suppression_removals',
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
  'desk_sign_ins',
  'desk_sessions',
  'desk_passkeys',
  'desk_log',
] as const satisfies readonly (keyof Schema)[];
type AboutAnAddress = (typeof ABOUT_AN_ADDRESS)[number];

/** What a desk user's account consists of: it is no part of the lead with the same e-mail address. */
type OfDeskUsers = 'desk_sign_ins' | 'desk_sessions' | 'desk_passkeys';
/** How many rows of each table an erasure takes or makes anonymous. */
export type ErasedRows = Readonly<Record<Exclude<AboutAnAddress, OfDeskUsers>, number>>;

/** All rows about an address, by table. */
export type PersonalData = { readonly [Table in AboutAnAddress]: readonly Selectable<Schema[Table]>[] };

/** Which rows of a table are about an address. */
const isAbout = (table: AboutAnAddress, email: string) => {
  switch (table) {
    case 'consent_chain':
      return sql<boolean>`row_id in (
        select r.id from consent_receipts r join leads l on l.id = r.lead_id where l.email = ${email}
        union all select w.id from withdrawals w join leads l on l.id = w.lead_id where l.email = ${email}
        union all select x.id from suppression_removals x join leads l on l.id = x.lead_id where l.email = ${email}
      )`;
    case 'exported_leads':
    case 'corrections':
    case 'withdrawals':
    case 'suppression_removals':
    case 'webhook_events':
    case 'consent_receipts':
      return sql<boolean>`lead_id in (select id from leads where email = ${email})`;
    case 'imported_corrections':
      return sql<boolean>`imported_id in (select id from imported_leads where email = ${email})`;
    case 'outbox':
      // Mail goes to the address as it was typed, its domain in ASCII.
      // Each half has an index; with "or" between them, PostgreSQL would look at every mail.
      return sql<boolean>`id in (
        select id from outbox where lower(recipient) = ${email}
        union all select o.id from outbox o join codes c on c.id = o.code_id where c.email = ${email}
      )`;
    case 'challenges':
      // The same address as its submissions; they have an index.
      return sql<boolean>`id in (select challenge_id from submissions where email = ${email} union select challenge_id from codes where email = ${email})`;
    case 'leads':
    case 'imported_leads':
    case 'suppressions':
    case 'submissions':
    case 'codes':
    case 'desk_sign_ins':
    case 'desk_sessions':
    case 'desk_passkeys':
      return sql<boolean>`email = ${email}`;
    case 'desk_log':
      return sql<boolean>`(about = ${email} or who = ${email})`;
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
    suppression_removals: await rowsOf('suppression_removals'),
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
    desk_sign_ins: await rowsOf('desk_sign_ins'),
    desk_sessions: await rowsOf('desk_sessions'),
    desk_passkeys: await rowsOf('desk_passkeys'),
    desk_log: await rowsOf('desk_log'),
  };
}

/** The browser of an erased challenge: no cookie names it. */
const NO_BROWSER = '';
const NO_ADDRESS = '';

type LeadErased = {
  readonly leadId: string;
  /** A webhook event about the lead may be on its way until then; milliseconds since 1970, null: none is. */
  readonly inHandUntil: number | null;
};

/**
 * Erases an address everywhere. Its lead's sessions end, and mail to it is not sent. When codes were made stays, under a pseudonym and
 * until these rows expire, so that asking again begins no new day. Under the same pseudonym it stays for good on the list of addresses
 * that get no mail and that no import brings back, and in the audit log until its lines expire. A desk user with the same e-mail
 * address keeps sessions, passkeys and their name in the audit log: otherwise, filling in the public form would be a way out of it.
 * @param tx everything is erased in this transaction
 */
export async function erasePersonalData(
  tx: Db,
  engine: OpenDatabase['engine'],
  {
    email: typedEmail,
    pseudonyms,
    eraseProofs,
    now,
    onLeadErased = async () => {},
  }: {
    /** In any case of letters. */
    email: string;
    /** Of the address (server/secrets/pseudonyms.ts), the newest first. */
    pseudonyms: readonly [string, ...string[]];
    /** Empties the entries of the chain of consents that are about the address (server/consent/chain.ts), and counts them. */
    eraseProofs: (tx: Db, isAbout: RawBuilder<boolean>) => Promise<number>;
    /** Milliseconds since 1970. */
    now: number;
    /** Called for each lead. */
    onLeadErased?: (lead: LeadErased) => Promise<void>;
  },
): Promise<ErasedRows> {
  const email = normaliseEmail(typedEmail);
  const [pseudonym] = pseudonyms;
  // A form of this address, or a code, may be under way.
  await lockAddress(tx, engine, email);
  // In this order: rows that refer to others come first.
  const erased = {
    // Its place in the chain stays, so that the others can still be checked.
    consent_chain: await eraseProofs(tx, isAbout('consent_chain', email)),
    suppressions: await anonymiseSuppressions(tx, email),
    withdrawals: await deleteRows(tx, 'withdrawals', email),
    suppression_removals: await deleteRows(tx, 'suppression_removals', email),
    exported_leads: await deleteRows(tx, 'exported_leads', email),
    corrections: await deleteRows(tx, 'corrections', email),
    consent_receipts: await deleteRows(tx, 'consent_receipts', email),
    ...(await eraseLeads(tx, email, onLeadErased)),
    imported_corrections: await deleteRows(tx, 'imported_corrections', email),
    imported_leads: await deleteRows(tx, 'imported_leads', email),
    outbox: await deleteRows(tx, 'outbox', email),
    challenges: await pseudonymiseChallenges(tx, email, pseudonym, now),
    codes: await pseudonymiseCodes(tx, email, pseudonym, now),
    submissions: await deleteRows(tx, 'submissions', email),
    desk_log: await pseudonymiseDeskLog(tx, email, pseudonyms),
  };
  await suppress(tx, { keys: pseudonyms, reason: 'erased', email: null, now });
  // If others have an address there, the next look-up finds it again.
  await tx.deleteFrom('mail_domains').where('domain', '=', domainOf(email)).execute();
  return erased;
}

async function deleteRows(
  tx: Db,
  table:
    | 'exported_leads'
    | 'corrections'
    | 'withdrawals'
    | 'suppression_removals'
    | 'consent_receipts'
    | 'outbox'
    | 'submissions'
    | 'imported_corrections'
    | 'imported_leads',
  email: string,
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom(table)
    .where(isAbout(table, email))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

async function anonymiseSuppressions(tx: Db, email: string): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('suppressions')
    .set({ email: null, note: null })
    .where(isAbout('suppressions', email))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** What was done with the person stays. Who did it is accountable, and keeps their name. */
async function pseudonymiseDeskLog(
  tx: Db,
  email: string,
  pseudonyms: readonly [string, ...string[]],
): Promise<number> {
  const [name, ...former] = pseudonyms.map(erasedName) as [string, ...string[]];
  // Lines from before an earlier erasure have the pseudonym of an older secret.
  if (former.length > 0)
    await tx.updateTable('desk_log').set({ about: name }).where('about', 'in', former).execute();
  const { numUpdatedRows } = await tx
    .updateTable('desk_log')
    .set({ about: name })
    .where('about', '=', email)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

async function eraseLeads(
  tx: Db,
  email: string,
  onLeadErased: (lead: LeadErased) => Promise<void>,
): Promise<{ readonly leads: number; readonly webhook_events: number }> {
  const leads = await tx.deleteFrom('leads').where(isAbout('leads', email)).returning('id').execute();
  if (leads.length === 0) return { leads: 0, webhook_events: 0 };
  const leadIds = leads.map(({ id }) => id);
  // After the lead: queueing an event holds the lead's row, so none can be added now.
  const events = await tx
    .deleteFrom('webhook_events')
    .where('lead_id', 'in', leadIds)
    .returning('leased_until')
    .execute();
  const inHand = events.map((event) => event.leased_until).filter((until) => until !== null);
  const inHandUntil = inHand.length === 0 ? null : Math.max(...inHand);
  for (const leadId of leadIds) await onLeadErased({ leadId, inHandUntil });
  return { leads: leads.length, webhook_events: events.length };
}

async function pseudonymiseChallenges(
  tx: Db,
  email: string,
  pseudonym: string,
  now: number,
): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('challenges')
    .set({
      browser_id: NO_BROWSER,
      email: pseudonym,
      // It expires like one that was never verified.
      verified_at: null,
      expires_at: atMost(now),
    })
    .where(isAbout('challenges', email))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

async function pseudonymiseCodes(tx: Db, email: string, pseudonym: string, now: number): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('codes')
    .set({ email: pseudonym, client_address: NO_ADDRESS, expires_at: atMost(now) })
    .where(isAbout('codes', email))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

const atMost = (now: number) => sql<number>`case when expires_at > ${now} then ${now} else expires_at end`;
