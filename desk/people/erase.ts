import { nothingHeld } from '#desk/people/held-data.ts';
import { COMPACT, removeRemains } from '#desk/people/residual-data.ts';
import { changePerson, type Actor } from '#desk/audit-log/audit-log.ts';
import { counted } from '#desk/printable.ts';
import { createProofEraser } from '#server/consent/chain.ts';
import { erasePersonalData, listPersonalData, type ErasedRows } from '#server/db/queries/personal-data.ts';
import type { Service } from '#server/startup/service.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';

export type ErasedCounts = Readonly<Record<keyof ErasedRows | 'mailFiles', number>>;

type Erasure = {
  readonly email: string;
  readonly counts: ErasedCounts;
  readonly failures: readonly string[];
  readonly advice: readonly string[];
};

/**
 * Erases rows, mail files and traces in database files. After the rows are deleted, all remaining steps run even if one fails.
 * @param person an ID, or the e-mail address as stored
 * @param options check: throws to cancel; details: returns the details for the audit log
 * @returns null if the ID is unknown
 */
export async function erasePerson(
  service: Service,
  actor: Actor,
  person: Parameters<typeof changePerson>[2],
  { check = () => {}, details }: { check?: (email: string) => void; details: (erased: ErasedRows) => string },
): Promise<Erasure | null> {
  const { config, secrets, clock, mail, webhooks, logger } = service;
  const now = clock();
  const erased = await changePerson(service, actor, person, async (tx, email, note) => {
    check(email);
    const rows = await erasePersonalData(tx, {
      email,
      pseudonyms: pseudonymsOf(secrets, email),
      eraseProofs: createProofEraser(secrets, now),
      now,
      onLeadErased: (lead) => webhooks.queueErased(tx, { ...lead, now }),
    });
    await note('erased', email, details(rows));
    return { email, rows };
  });
  if (erased === null) return null;
  const { email, rows } = erased;
  const failures: string[] = [];
  const advice: string[] = [];
  const orLog = async (act: () => Promise<void>, failed: string, next: string): Promise<void> => {
    try {
      await act();
    } catch (error) {
      logger.error({ err: error }, `After an erasure, ${failed}.`);
      failures.push(`${failed[0]!.toUpperCase()}${failed.slice(1)}. See the log for the reason. ${next}`);
    }
  };
  let mailFiles = 0;
  await orLog(
    async () => {
      mailFiles = await mail.deleteFilesAbout(email);
    },
    `e-mails to or about the person may remain in ${mail.folder}`,
    'Delete these e-mails there.',
  );
  await orLog(
    async () => {
      const remains = await removeRemains(config.database);
      if (remains !== null) (remains.isFailure ? failures : advice).push(remains.sentence);
    },
    'the database could not be rewritten, so its files may contain traces of deleted data',
    `At a quiet time, run: ${COMPACT}`,
  );
  return { email, counts: { ...rows, mailFiles }, failures, advice };
}

export const ELSEWHERE = 'Backups and earlier exports still contain the data. Erase it there too.';

export async function describeWhatIsErased(
  { database, mail }: Pick<Service, 'database' | 'mail'>,
  email: string,
): Promise<string> {
  const data = await listPersonalData(database.db, email);
  const rows = { ...data, desk_log: data.desk_log.filter(({ about }) => about === email) };
  const counts = Object.fromEntries(Object.entries(rows).map(([table, { length }]) => [table, length]));
  const mailFiles = (await mail.filesAbout(email)).length;
  const description = describeCounts({ ...counts, mailFiles });
  if (description === '') throw nothingHeld(email);
  return description;
}

const WORDS: Readonly<Record<keyof ErasedCounts, readonly [one: string, several: string]>> = {
  leads: ['lead', 'leads'],
  imported_leads: ['imported person', 'imported people'],
  submissions: ['form', 'forms'],
  codes: ['code', 'codes'],
  outbox: ['e-mail', 'e-mails'],
  consent_receipts: ['consent', 'consents'],
  consent_chain: ['proof of consent', 'proofs of consent'],
  withdrawals: ['withdrawal', 'withdrawals'],
  suppression_removals: ['removed suppression', 'removed suppressions'],
  corrections: ['correction', 'corrections'],
  imported_corrections: ['correction of an imported person', 'corrections of an imported person'],
  exported_leads: ['export record', 'export records'],
  webhook_events: ['webhook event', 'webhook events'],
  suppressions: ['suppression', 'suppressions'],
  desk_log: ['audit log entry', 'audit log entries'],
  mailFiles: ['e-mail file', 'e-mail files'],
};

export const describeCounts = (counts: Readonly<Partial<Record<keyof ErasedCounts, number>>>): string =>
  Object.entries(WORDS)
    .map(([what, [one, several]]) => ({ count: counts[what as keyof ErasedCounts] ?? 0, one, several }))
    .filter(({ count }) => count > 0)
    .map(({ count, one, several }) => counted(count, one, several))
    .join(', ');
