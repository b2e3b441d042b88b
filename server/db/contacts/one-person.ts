import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { LeadRecord, LeadState } from '#server/db/contacts/filter.ts';
import { hasAddress, leadRecords, READERS } from '#server/db/contacts/pages.ts';

/** Milliseconds since 1970. */
export type HeldLead = Awaited<ReturnType<ReturnType<typeof leadRecords>['executeTakeFirstOrThrow']>>;

/** Locks the lead's row until the transaction ends. SQLite has one writer anyway. */
export async function holdLeadRecord(
  tx: Db,
  engine: OpenDatabase['engine'],
  id: string,
): Promise<HeldLead | undefined> {
  return leadRecords(tx)
    .where('l.id', '=', id)
    .$if(engine === 'postgres', (query) => query.forUpdate('l'))
    .executeTakeFirst();
}

/** Search order: one function finds the ID that another returns. */
const TABLES_OF_PEOPLE = ['leads', 'imported_leads', 'submissions'] as const;

export async function addressOfPerson(db: Db, id: string): Promise<string | undefined> {
  for (const table of TABLES_OF_PEOPLE) {
    const row = await db.selectFrom(table).select('email').where('id', '=', id).executeTakeFirst();
    if (row !== undefined) return row.email;
  }
  return undefined;
}

/** The lead's, the imported person's or the first form's ID, by e-mail address. */
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

/** Most informative first: an imported person who asks for a code still counts as imported. */
const BY_WEIGHT = [
  'verified',
  'suppressed',
  'imported',
  'unverified',
] as const satisfies readonly LeadState[];

/** @param email as stored */
export async function findPerson(db: Db, email: string): Promise<LeadRecord | undefined> {
  for (const state of BY_WEIGHT) {
    const reader = READERS[state];
    const where = hasAddress(reader, email);
    const rows = await reader.read(db, { evenSuppressed: true }, { where, order: 'desc', limit: 1 });
    if (rows[0] !== undefined) return rows[0];
  }
  return undefined;
}

export type Holder = {
  /** Null for an imported or unverified person. */
  readonly leadId: string | null;
  readonly lastVerifiedAt: number | null;
};

/** @param email as stored @returns null if no data is held about it */
export async function findHolder(db: Db, email: string): Promise<Holder | null> {
  const lead = await db
    .selectFrom('leads')
    .select(['id', 'last_verified_at'])
    .where('email', '=', email)
    .executeTakeFirst();
  if (lead !== undefined) return { leadId: lead.id, lastVerifiedAt: lead.last_verified_at };
  for (const table of ['submissions', 'imported_leads'] as const) {
    const row = await db
      .selectFrom(table)
      .select('id')
      .where('email', '=', email)
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) return { leadId: null, lastVerifiedAt: null };
  }
  return null;
}
