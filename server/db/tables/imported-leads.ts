import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { suppressionReasons, type ListedAddress } from '#server/db/tables/suppressions.ts';
import { answersOf, type LeadAnswers } from '#shared/lead.ts';

export type ImportedPerson = LeadAnswers &
  ListedAddress & {
    readonly id: string;
    readonly consentGivenAt: number | null;
  };

export type ImportCounts = {
  readonly imported: number;
  readonly withoutConsentTime: number;
  readonly alreadyImported: number;
  readonly verified: number;
  readonly erased: number;
  readonly suppressed: number;
};

/** Locks nothing. */
export const countImport = async (db: Db, people: readonly ImportedPerson[]): Promise<ImportCounts> =>
  (await classifyPeople(db, people)).counts;

/**
 * @param tx a transaction
 * @param people a few hundred distinct addresses
 */
export async function importPeople(
  tx: Db,
  people: readonly ImportedPerson[],
  { consentSource, fileName, now }: { consentSource: string; fileName: string; now: number },
): Promise<ImportCounts> {
  await acquireLocks(tx, ...people.map(({ email }) => email));
  const { counts, newPeople } = await classifyPeople(tx, people);
  const rows = newPeople.map((person) => ({
    id: person.id,
    email: person.email,
    ...answersOf(person),
    consent_source: consentSource,
    consent_given_at: person.consentGivenAt,
    file_name: fileName,
    imported_at: now,
  }));
  if (rows.length > 0) await tx.insertInto('imported_leads').values(rows).execute();
  return counts;
}

async function classifyPeople(
  db: Db,
  people: readonly ImportedPerson[],
): Promise<{ readonly counts: ImportCounts; readonly newPeople: readonly ImportedPerson[] }> {
  const emails = people.map(({ email }) => email);
  const verified = await emailsIn(db, 'leads', emails);
  const imported = await emailsIn(db, 'imported_leads', emails);
  const reasonsOf = await suppressionReasons(db, people);
  const counts = { alreadyImported: 0, verified: 0, erased: 0, suppressed: 0 };
  const newPeople: ImportedPerson[] = [];
  for (const person of people) {
    const reasons = reasonsOf(person);
    if (verified.has(person.email)) counts.verified += 1;
    else if (imported.has(person.email)) counts.alreadyImported += 1;
    else if (reasons.includes('erased')) counts.erased += 1;
    else if (reasons.length > 0) counts.suppressed += 1;
    else newPeople.push(person);
  }
  const withoutConsentTime = newPeople.filter(({ consentGivenAt }) => consentGivenAt === null).length;
  return { counts: { ...counts, imported: newPeople.length, withoutConsentTime }, newPeople };
}

async function emailsIn(
  db: Db,
  table: 'leads' | 'imported_leads',
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom(table).select('email').where('email', 'in', emails).execute();
  return new Set(rows.map(({ email }) => email));
}
