// What is known about an e-mail address: listed, and erased everywhere in one transaction.
import { sql, type RawBuilder, type Selectable } from 'kysely';

import { TABLE_NAMES, TABLES } from '#server/db/all-tables.ts';
import { lockAddress } from '#server/db/engine/address-lock.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { erasedName } from '#server/db/tables/desk-log.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import { domainOf } from '#server/platform/domain-of.ts';
import { normaliseEmail } from '#shared/lead.ts';

type Tables = typeof TABLES;
/** A table whose rows are about an e-mail address. */
type AboutAnAddress = {
  [Table in keyof Tables]: Tables[Table] extends { isAbout: unknown } ? Table : never;
}[keyof Tables];

/** What a desk user's account consists of: it is no part of the lead with the same e-mail address. */
type OfDeskUsers = 'desk_sign_ins' | 'desk_sessions' | 'desk_passkeys';
/** How many rows of each table an erasure takes or makes anonymous. */
export type ErasedRows = Readonly<Record<Exclude<AboutAnAddress, OfDeskUsers>, number>>;

/** All rows about an address, by table. */
export type PersonalData = { readonly [Table in AboutAnAddress]: readonly Selectable<Schema[Table]>[] };

/** Which rows of a table are about an e-mail address. */
const isAbout = (table: AboutAnAddress, email: string): RawBuilder<boolean> => TABLES[table].isAbout(email);

/**
 * Lists what is known about an e-mail address. Limits are not listed: they know pseudonyms and networks, for two days at most.
 * @param typedEmail in any case of letters
 */
export async function listPersonalData(db: Db, typedEmail: string): Promise<PersonalData> {
  const email = normaliseEmail(typedEmail);
  const listed: Partial<Record<keyof Schema, readonly unknown[]>> = {};
  for (const table of TABLE_NAMES.filter((name): name is AboutAnAddress => 'isAbout' in TABLES[name]))
    listed[table] = await db.selectFrom(table).selectAll().where(isAbout(table, email)).execute();
  return listed as PersonalData;
}

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
    codes: await pseudonymiseCodes(tx, email, pseudonym, now),
    submissions: await deleteRows(tx, 'submissions', email),
    desk_log: await pseudonymiseDeskLog(tx, email, pseudonyms),
  };
  await suppress(tx, { keys: pseudonyms, reason: 'erased', email: null, now });
  // If others have an address there, the next look-up finds it again.
  await tx.deleteFrom('mail_domains').where('domain', '=', domainOf(email)).execute();
  return erased;
}

/** A table of which some rows outlive an erasure: without what is personal in them, or as a desk user's account. */
type Kept = OfDeskUsers | 'consent_chain' | 'suppressions' | 'codes' | 'desk_log';

async function deleteRows(tx: Db, table: Exclude<AboutAnAddress, Kept>, email: string): Promise<number> {
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

async function pseudonymiseCodes(tx: Db, email: string, pseudonym: string, now: number): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('codes')
    .set({ submission_id: null, email: pseudonym, client_address: NO_ADDRESS, expires_at: atMost(now) })
    .where(isAbout('codes', email))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

const atMost = (now: number) => sql<number>`case when expires_at > ${now} then ${now} else expires_at end`;
