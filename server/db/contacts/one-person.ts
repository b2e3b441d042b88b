// One person, by the id or the address.
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { LeadRecord, LeadState } from '#server/db/contacts/person.ts';
import { hasAddress, leadRecords, READERS } from '#server/db/contacts/readers.ts';

/** A lead with its newest consent. Times are milliseconds since 1970. */
export type HeldLead = Awaited<ReturnType<ReturnType<typeof leadRecords>['executeTakeFirstOrThrow']>>;

/**
 * Reads one lead and locks its row until the transaction ends.
 * @returns undefined when there is none
 */
export async function holdLeadRecord(
  tx: Db,
  engine: OpenDatabase['engine'],
  id: string,
): Promise<HeldLead | undefined> {
  return (
    leadRecords(tx)
      .where('l.id', '=', id)
      // SQLite has one writer at a time, so it needs no lock.
      .$if(engine === 'postgres', (query) => query.forUpdate('l'))
      .executeTakeFirst()
  );
}

/** Where people stand, in the order in which they are looked for: by an id that one of these functions gives, the other finds its person. */
const TABLES_OF_PEOPLE = ['leads', 'imported_leads', 'submissions'] as const;

/** The address of a lead, an imported person or a form; undefined when there is no such row (any more). */
export async function addressOfPerson(db: Db, id: string): Promise<string | undefined> {
  for (const table of TABLES_OF_PEOPLE) {
    const row = await db.selectFrom(table).select('email').where('id', '=', id).executeTakeFirst();
    if (row !== undefined) return row.email;
  }
  return undefined;
}

/**
 * By which id each address is found: the lead's, the imported person's or that of its first form.
 * @returns without those about whom nothing is held
 */
export async function idsOfPeople(db: Db, emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const table of TABLES_OF_PEOPLE) {
    const left = emails.filter((email) => !ids.has(email));
    if (left.length === 0) break;
    const rows = await db
      .selectFrom(table)
      .select((eb) => ['email', eb.fn.min('id').as('id')])
      .where('email', 'in', left)
      .groupBy('email')
      .execute();
    for (const { email, id } of rows) ids.set(email, id);
  }
  return ids;
}

/** What says most about a person comes first: who was imported and asks for a code is still the imported person. */
const BY_WEIGHT = [
  'verified',
  'suppressed',
  'imported',
  'unverified',
] as const satisfies readonly LeadState[];

/** A person by the address; undefined when there is none. @param email as stored */
export async function findPerson(db: Db, email: string): Promise<LeadRecord | undefined> {
  for (const state of BY_WEIGHT) {
    const reader = READERS[state];
    const where = hasAddress(reader, email);
    const rows = await reader.read(db, { evenSuppressed: true }, { where, order: 'desc', limit: 1 });
    if (rows[0] !== undefined) return rows[0];
  }
  return undefined;
}
