import { rm } from 'node:fs/promises';

import { changePerson, type Actor, type PersonRef } from '#desk/audit-log/audit-log.ts';
import { noDataStored } from '#desk/people/held-data.ts';
import { counted } from '#desk/printable.ts';
import { createProofEraser } from '#server/consent/chain.ts';
import { PLANNER_SAMPLES, rewriteDatabase, type RewriteResult } from '#server/db/backup/compact.ts';
import { erasePersonalData, listPersonalData, type ErasedRows } from '#server/db/queries/personal-data.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import type { Service } from '#server/startup/service.ts';

export type ErasedCounts = Readonly<Record<keyof ErasedRows | 'mailFiles', number>>;

type Erasure = {
  readonly email: string;
  readonly counts: ErasedCounts;
  readonly failures: readonly string[];
  readonly advice: readonly string[];
};

/**
 * Erases rows, mail files and traces in database files. After the rows are deleted, all remaining steps run even if one fails.
 * @param options check: throws to cancel; details: returns the details for the audit log
 * @returns null if the ID is unknown
 */
export async function erasePerson(
  service: Service,
  actor: Actor,
  person: PersonRef,
  { check = () => {}, details }: { check?: (email: string) => void; details: (erased: ErasedRows) => string },
): Promise<Erasure | null> {
  const { config, secrets, clock, mail, webhooks, logger } = service;
  const now = clock();
  const erased = await changePerson(service, actor, person, async (tx, email, log) => {
    check(email);
    const rows = await erasePersonalData(tx, {
      email,
      pseudonyms: pseudonymsOf(secrets, email),
      eraseProofs: createProofEraser(secrets, now),
      now,
      onLeadErased: (lead) => webhooks.queue(tx, { ...lead, type: 'lead.erased', now }),
    });
    // After an erasure, the log stores a pseudonym instead of the e-mail address.
    await log('erased', email, details(rows));
    return { email, rows };
  });
  if (erased === null) return null;
  const { email, rows } = erased;
  const failures: string[] = [];
  const advice: string[] = [];
  /** @param failure a clause in lower case */
  const attempt = async (step: () => Promise<void>, failure: string, remedy: string): Promise<void> => {
    try {
      await step();
    } catch (error) {
      logger.error({ err: error }, `After an erasure, ${failure}.`);
      failures.push(`${failure[0]!.toUpperCase()}${failure.slice(1)}. See the log for the reason. ${remedy}`);
    }
  };
  let mailFiles = 0;
  await attempt(
    async () => {
      const files = await mail.filesAbout(email);
      for (const file of files) await rm(file, { force: true });
      mailFiles = files.length;
    },
    `e-mails to or about the person may remain in ${mail.folder}`,
    'Delete these e-mails there.',
  );
  await attempt(
    async () => {
      const residue = await removeResidualData(config.database);
      if (residue !== null) (residue.isFailure ? failures : advice).push(residue.sentence);
    },
    'the database could not be rewritten, so its files may contain traces of deleted data',
    `At a quiet time, run: ${COMPACT}`,
  );
  return { email, counts: { ...rows, mailFiles }, failures, advice };
}

export const OTHER_COPIES = 'Backups and earlier exports still contain the data. Erase it there too.';

export async function describePersonalData(
  { database, mail }: Pick<Service, 'database' | 'mail'>,
  email: string,
): Promise<string> {
  const data = await listPersonalData(database.db, email);
  // The actions of a desk user with this e-mail address stay in the audit log.
  const rows = { ...data, desk_log: data.desk_log.filter(({ about }) => about === email) };
  const counts = Object.fromEntries(Object.entries(rows).map(([table, { length }]) => [table, length]));
  const mailFiles = (await mail.filesAbout(email)).length;
  const description = describeCounts({ ...counts, mailFiles });
  if (description === '') throw noDataStored(email);
  return description;
}

const NOUNS: Readonly<Record<keyof ErasedCounts, readonly [one: string, several: string]>> = {
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
  Object.entries(NOUNS)
    .map(([name, [one, several]]) => ({ count: counts[name as keyof ErasedCounts] ?? 0, one, several }))
    .filter(({ count }) => count > 0)
    .map(({ count, one, several }) => counted(count, one, several))
    .join(', ');

const COMPACT = 'npm run -s desk -- compact';
/** Rewriting a larger database would delay visitors for too long, so the operator chooses the time. */
const REWRITE_LIMIT_BYTES = 100_000_000;

/** `isFailure` is false if the operator should choose when to remove the data. */
type ResidualData = { readonly isFailure: boolean; readonly sentence: string };

async function removeResidualData(database: Config['database']): Promise<ResidualData | null> {
  const rewriting = await rewriteDatabase(database, { largestBytes: REWRITE_LIMIT_BYTES });
  if (rewriting.type === 'rewritten') return null;
  // PostgreSQL's column samples belong to the database owner, who may be another user.
  const needsOwner =
    rewriting.type === 'remaining' && rewriting.tables.every((table) => table === PLANNER_SAMPLES);
  const isFailure = rewriting.type !== 'too large' && !needsOwner;
  return { isFailure, sentence: describeResidualData(rewriting) };
}

export function describeResidualData(rewriting: Exclude<RewriteResult, { type: 'rewritten' }>): string {
  switch (rewriting.type) {
    case 'too large':
      return `The database is larger than ${describeBytes(REWRITE_LIMIT_BYTES)}, so it was not rewritten, and its files may contain traces of deleted data. To remove the traces, run at a quiet time: ${COMPACT}`;
    case 'in use':
      return `The database files may contain traces of deleted data, because an earlier export, backup or shell still uses them (on PostgreSQL, also a transaction in another database of the server). Wait until it ends, and then run: ${COMPACT}`;
    case 'remaining':
      return `The database files may contain traces of deleted data, because ${rewriting.tables.join(', ')} could not be rewritten. At a quiet time, run as the owner of the database: ${COMPACT}`;
    case 'no room':
      return `The disk has too little space to rewrite the database, so its files may contain traces of deleted data. Free ${describeBytes(rewriting.neededBytes)}, and then run: ${COMPACT}`;
  }
}

const describeBytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;
