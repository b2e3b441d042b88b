import { sql, type RawBuilder, type Selectable } from 'kysely';

import { TABLE_NAMES, TABLES } from '#server/db/all-tables.ts';
import { lockAddress } from '#server/db/engine/address-lock.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { erasedName } from '#server/db/tables/desk-log.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import { domainOf } from '#server/platform/text.ts';
import { normaliseEmail } from '#shared/lead.ts';

type Tables = typeof TABLES;
type AboutAnAddress = {
  [Table in keyof Tables]: Tables[Table] extends { isAbout: unknown } ? Table : never;
}[keyof Tables];

/** A desk user's account isn't part of the lead. */
type OfDeskUsers = 'desk_sign_ins' | 'desk_sessions' | 'desk_passkeys';
export type ErasedRows = Readonly<Record<Exclude<AboutAnAddress, OfDeskUsers>, number>>;

export type PersonalData = { readonly [Table in AboutAnAddress]: readonly Selectable<Schema[Table]>[] };

const isAbout = (table: AboutAnAddress, email: string): RawBuilder<boolean> => TABLES[table].isAbout(email);

/**
 * Without limits, which hold pseudonyms and networks for at most two days.
 * @param typedEmail in any case
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
  /** Until when a webhook event about the lead may be under way. Milliseconds since 1970. */
  readonly inHandUntil: number | null;
};

/**
 * Ends the lead's sessions; its mail isn't sent. Under a pseudonym remain: the times of codes until they expire, so asking again
 * begins no new day; the suppression, for good; and audit-log lines until they expire. A desk user's sessions, passkeys and name
 * in the audit log stay: otherwise the public form would erase them.
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
    email: string;
    /** Newest first (server/secrets/secrets.ts). */
    pseudonyms: readonly [string, ...string[]];
    /** Also counts them (server/consent/chain.ts). */
    eraseProofs: (tx: Db, isAbout: RawBuilder<boolean>) => Promise<number>;
    /** Milliseconds since 1970. */
    now: number;
    onLeadErased?: (lead: LeadErased) => Promise<void>;
  },
): Promise<ErasedRows> {
  const email = normaliseEmail(typedEmail);
  const [pseudonym] = pseudonyms;
  // A form or code of this address may be under way.
  await lockAddress(tx, engine, email);
  // Rows that refer to others come first.
  const erased = {
    // Its position stays, so the others can still be checked.
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
  // If others use the domain, the next look-up finds it again.
  await tx.deleteFrom('mail_domains').where('domain', '=', domainOf(email)).execute();
  return erased;
}

/** Rows that outlive an erasure. */
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

/** Desk users stay accountable, so their names are kept. */
async function pseudonymiseDeskLog(
  tx: Db,
  email: string,
  pseudonyms: readonly [string, ...string[]],
): Promise<number> {
  const [name, ...former] = pseudonyms.map(erasedName) as [string, ...string[]];
  // Earlier erasures used an older secret's pseudonym.
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
