import { sql, type RawBuilder, type Selectable } from 'kysely';

import { descriptionOf, TABLE_NAMES, TABLES, type Schema, type TablesWith } from '#server/db/all-tables.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { changedRows } from '#server/db/engine/row-counts.ts';
import { erasedName } from '#server/db/tables/desk-log.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import { domainOf } from '#server/platform/text.ts';
import { normaliseEmail } from '#shared/lead.ts';

type DeletedTable = TablesWith<{ erasure: 'delete' }>;
type TableAboutPeople = TablesWith<{ isAbout: unknown }>;
export type ErasedRows = Readonly<Record<TablesWith<{ erasure: 'delete' | 'custom' }>, number>>;

export type PersonalData = { readonly [Table in TableAboutPeople]: readonly Selectable<Schema[Table]>[] };

const isAbout = (table: TableAboutPeople, email: string): RawBuilder<boolean> => TABLES[table].isAbout(email);

/** Omits limit_windows, which contain pseudonyms for at most 30 days and networks for an hour. */
export async function listPersonalData(db: Db, typedEmail: string): Promise<PersonalData> {
  const email = normaliseEmail(typedEmail);
  const listed: Partial<Record<keyof Schema, readonly unknown[]>> = {};
  for (const table of TABLE_NAMES.filter((name): name is TableAboutPeople => 'isAbout' in TABLES[name]))
    listed[table] = await db.selectFrom(table).selectAll().where(isAbout(table, email)).execute();
  return listed as PersonalData;
}

const NO_IP = '';

type LeadErased = {
  readonly leadId: string;
  /** Until this time, a webhook event about the lead may be in transit. */
  readonly inTransitUntil: number | null;
};

/**
 * Ends the lead's sessions and cancels its mail. Three things remain under a pseudonym: the times of codes until they expire,
 * so asking again doesn't reset the day's limit; the suppression, permanently; and audit-log lines until they expire. A desk
 * user's sessions, passkeys and name in the audit log remain too. Otherwise anyone could erase them through the public form.
 */
export async function erasePersonalData(
  tx: Db,
  {
    email: typedEmail,
    pseudonyms,
    eraseProofs,
    now,
    onLeadErased = async () => {},
  }: {
    email: string;
    /** Made with the newest secret first (server/secrets/secrets.ts). */
    pseudonyms: readonly [string, ...string[]];
    /** Empties the person's chain entries and returns their number (server/consent/chain.ts). */
    eraseProofs: (tx: Db, isAbout: RawBuilder<boolean>) => Promise<number>;
    now: number;
    onLeadErased?: (lead: LeadErased) => Promise<void>;
  },
): Promise<ErasedRows> {
  const email = normaliseEmail(typedEmail);
  const [pseudonym] = pseudonyms;
  await acquireLocks(tx, email);
  let leadIds: readonly string[] = [];
  const eraseRows: Readonly<Record<TablesWith<{ erasure: 'custom' }>, () => Promise<number>>> = {
    desk_log: () => pseudonymiseDeskLog(tx, email, pseudonyms),
    suppressions: () =>
      changedRows(
        tx.updateTable('suppressions').set({ email: null, note: null }).where(isAbout('suppressions', email)),
      ),
    // Positions are kept, so the other entries can still be checked.
    consent_chain: () => eraseProofs(tx, isAbout('consent_chain', email)),
    leads: async () => {
      const leads = await tx.deleteFrom('leads').where(isAbout('leads', email)).returning('id').execute();
      leadIds = leads.map(({ id }) => id);
      return leads.length;
    },
    // Runs after the lead's deletion: queueing an event locks the lead's row, so none can be added now.
    webhook_events: () => deleteEvents(tx, leadIds, onLeadErased),
    codes: () =>
      changedRows(
        tx
          .updateTable('codes')
          .set({ submission_id: null, email: pseudonym, client_address: NO_IP, expires_at: expiryUpTo(now) })
          .where(isAbout('codes', email)),
      ),
  };
  const erased: Partial<Record<keyof Schema, number>> = {};
  for (const table of TABLE_NAMES.toReversed()) {
    const { erasure } = descriptionOf(table);
    if (erasure === 'custom') erased[table] = await eraseRows[table as keyof typeof eraseRows]();
    if (erasure === 'delete')
      erased[table] = await changedRows(tx.deleteFrom(table).where(isAbout(table as DeletedTable, email)));
  }
  await suppress(tx, { keys: pseudonyms, reason: 'erased', email: null, now });
  // If other people use the domain, the next lookup stores it again.
  await tx.deleteFrom('mail_domains').where('domain', '=', domainOf(email)).execute();
  return erased as ErasedRows;
}

/** Keeps the names of desk users, who stay accountable. */
async function pseudonymiseDeskLog(
  tx: Db,
  email: string,
  pseudonyms: readonly [string, ...string[]],
): Promise<number> {
  const [name, ...former] = pseudonyms.map(erasedName) as [string, ...string[]];
  // Earlier erasures used a pseudonym made with an older secret.
  if (former.length > 0)
    await tx.updateTable('desk_log').set({ about: name }).where('about', 'in', former).execute();
  return changedRows(tx.updateTable('desk_log').set({ about: name }).where('about', '=', email));
}

async function deleteEvents(
  tx: Db,
  leadIds: readonly string[],
  onLeadErased: (lead: LeadErased) => Promise<void>,
): Promise<number> {
  if (leadIds.length === 0) return 0;
  const events = await tx
    .deleteFrom('webhook_events')
    .where('lead_id', 'in', leadIds)
    .returning('leased_until')
    .execute();
  const leasedUntil = events.map((event) => event.leased_until).filter((until) => until !== null);
  const inTransitUntil = leasedUntil.length === 0 ? null : Math.max(...leasedUntil);
  for (const leadId of leadIds) await onLeadErased({ leadId, inTransitUntil });
  return events.length;
}

const expiryUpTo = (now: number) =>
  sql<number>`case when expires_at > ${now} then ${now} else expires_at end`;
