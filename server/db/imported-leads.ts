// People from a previous tool: put in a batch at a time. Nobody here is verified by this page.
import { lockAddresses } from '#server/db/challenges.ts';
import type { Db, OpenDatabase } from '#server/db/connect.ts';

export type ImportedPerson = {
  /** For a new row. */
  readonly id: string;
  /** As stored. */
  readonly email: string;
  /** All pseudonyms of the address (server/access/pseudonyms.ts). */
  readonly pseudonyms: readonly string[];
  readonly name: string;
  readonly company: string;
  /** Milliseconds since 1970; null when it is not known. */
  readonly consentGivenAt: number | null;
};

/** How many of a batch: only the first are, or would be, new rows. */
export type ImportCounts = {
  readonly imported: number;
  /** From an import before; they stay as they are. */
  readonly alreadyImported: number;
  /** Leads that this page has verified; they stay as they are. */
  readonly verified: number;
  /** Of whom erasure was asked. */
  readonly erased: number;
};

/**
 * Puts in those who are not there yet, in one transaction.
 * @param people each address once; some hundred
 * @param options dryRun: counts, and writes nothing. now: milliseconds since 1970
 */
export async function importPeople(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  people: readonly ImportedPerson[],
  {
    consentSource,
    fileName,
    now,
    dryRun,
  }: { consentSource: string; fileName: string; now: number; dryRun: boolean },
): Promise<ImportCounts> {
  return db.transaction().execute(async (tx) => {
    const emails = people.map(({ email }) => email);
    // One of them may be erased at this moment.
    if (!dryRun) await lockAddresses(tx, engine, emails);
    const verified = await emailsIn(tx, 'leads', emails);
    const imported = await emailsIn(tx, 'imported_leads', emails);
    const pseudonyms = people.flatMap((person) => person.pseudonyms);
    const erasedRows = await tx
      .selectFrom('erased_addresses')
      .select('pseudonym')
      .where('pseudonym', 'in', pseudonyms)
      .execute();
    const erased = new Set(erasedRows.map(({ pseudonym }) => pseudonym));
    const counts = { imported: 0, alreadyImported: 0, verified: 0, erased: 0 };
    const rows = people.flatMap((person) => {
      const { id, email, name, company, consentGivenAt } = person;
      // Who came back after an erasure, and verified the address, is a lead.
      if (verified.has(email)) counts.verified += 1;
      else if (imported.has(email)) counts.alreadyImported += 1;
      else if (person.pseudonyms.some((pseudonym) => erased.has(pseudonym))) counts.erased += 1;
      else {
        counts.imported += 1;
        return [
          {
            id,
            email,
            name,
            company,
            consent_source: consentSource,
            consent_given_at: consentGivenAt,
            file_name: fileName,
            imported_at: now,
          },
        ];
      }
      return [];
    });
    if (rows.length > 0 && !dryRun) await tx.insertInto('imported_leads').values(rows).execute();
    return counts;
  });
}

async function emailsIn(
  db: Db,
  table: 'leads' | 'imported_leads',
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom(table).select('email').where('email', 'in', emails).execute();
  return new Set(rows.map(({ email }) => email));
}
