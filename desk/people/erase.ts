// Erases a person: rows, mail in files, and what a deletion leaves in the files of the database.
import { personalDataOf } from '#desk/people/held-data.ts';
import { COMPACT, removeRemains } from '#desk/people/remains.ts';
import { erasePersonalData, listPersonalData, type PersonalData } from '#server/db/across/personal-data.ts';
import type { Service } from '#server/run/service.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { chainSignerOf } from '#server/secrets/secrets.ts';

export type ErasedCounts = Readonly<Record<keyof PersonalData | 'mailFiles', number>>;

type Erasure = {
  /** How many rows of each table, and files of mail, are gone. */
  readonly counts: ErasedCounts;
  /** What failed once the rows were gone, and what is better done at another time: sentences that say what to do. */
  readonly failures: readonly string[];
  readonly advice: readonly string[];
};

/**
 * Erases all that is held about an address. Once the rows are gone, all the rest is done as well, whatever of it fails.
 * @param email as stored
 * @param note puts the erasure into the record
 */
export async function eraseAddress(
  { config, database, secrets, clock, mail, webhooks, logger }: Service,
  email: string,
  note: (counts: ErasedCounts) => Promise<void>,
): Promise<Erasure> {
  const now = clock();
  const rows = await erasePersonalData(database, {
    email,
    pseudonyms: pseudonymsOf(secrets, email),
    signer: chainSignerOf(secrets),
    now,
    onLeadErased: (tx, lead) => webhooks.queueErased(tx, { ...lead, now }),
  });
  webhooks.wake();
  const failures: string[] = [];
  const advice: string[] = [];
  const orLog = async (act: () => Promise<void>, failed: string, next: string): Promise<void> => {
    try {
      await act();
    } catch (error) {
      logger.error({ err: error }, `After an erasure, ${failed}.`);
      failures.push(`${failed[0]!.toUpperCase()}${failed.slice(1)}, and the log says why. ${next}`);
    }
  };
  let mailFiles = 0;
  await orLog(
    async () => {
      const { deleted, left } = await mail.deleteFilesAbout(email);
      mailFiles = deleted;
      if (left.length > 0)
        failures.push(`Mail to or about the person is left: delete ${left.join(', ')} as a user who may.`);
    },
    `mail to or about the person may be left in ${mail.folder}`,
    'Delete it there.',
  );
  const counts = { ...rows, mailFiles };
  await orLog(
    () => note(counts),
    'the record of the desk could not be written, so it does not name the erasure',
    'Note it elsewhere.',
  );
  // Last: the line of the record empties SQLite's log, too.
  await orLog(
    async () => {
      const remains = await removeRemains(config.database);
      if (remains !== null) (remains.isFailure ? failures : advice).push(remains.sentence);
    },
    'the database could not be rewritten, so its files may hold traces',
    `At a quiet hour, call: ${COMPACT}`,
  );
  return { counts, failures, advice };
}

export const ELSEWHERE = 'Backups and files that were exported before still hold it: erase it there too.';

/**
 * What {@link eraseAddress} would take: 1 lead, 2 forms, …
 * @throws {CommandFailure} when nothing is held
 */
export async function sayWhatIsErased(
  { database, mail }: Pick<Service, 'database' | 'mail'>,
  email: string,
): Promise<string> {
  // Mail in files outlives the rows.
  const mailFiles = (await mail.filesAbout(email)).length;
  const read = mailFiles === 0 ? personalDataOf : listPersonalData;
  const rows = Object.entries(await read(database.db, email)).map(([table, { length }]) => [table, length]);
  return sayCounts({ ...Object.fromEntries(rows), mailFiles });
}

/** Singular and plural, in the order in which they are listed. */
const WORDS: Readonly<Record<keyof ErasedCounts, readonly [one: string, several: string]>> = {
  leads: ['lead', 'leads'],
  imported_leads: ['imported person', 'imported people'],
  submissions: ['form', 'forms'],
  codes: ['code', 'codes'],
  challenges: ['request for codes', 'requests for codes'],
  outbox: ['mail', 'mails'],
  consent_receipts: ['consent', 'consents'],
  consent_chain: ['proof of consent', 'proofs of consent'],
  withdrawals: ['withdrawal', 'withdrawals'],
  suppression_removals: ['note of a removal', 'notes of removals'],
  corrections: ['correction', 'corrections'],
  imported_corrections: ['correction of an imported person', 'corrections of an imported person'],
  exported_leads: ['note of an export', 'notes of exports'],
  webhook_events: ['message to webhooks', 'messages to webhooks'],
  suppressions: ['entry that keeps mail away', 'entries that keep mail away'],
  desk_sign_ins: ['sign-in at the desk', 'sign-ins at the desk'],
  desk_sessions: ['session of the desk', 'sessions of the desk'],
  desk_passkeys: ['passkey of the desk', 'passkeys of the desk'],
  desk_log: ['line of the record', 'lines of the record'],
  mailFiles: ['mail in a file', 'mails in files'],
};

/** 1 lead, 2 forms, … of what is there. */
export const sayCounts = (counts: Readonly<Partial<Record<keyof ErasedCounts, number>>>): string =>
  Object.entries(WORDS)
    .map(([what, [one, several]]) => ({ count: counts[what as keyof ErasedCounts] ?? 0, one, several }))
    .filter(({ count }) => count > 0)
    .map(({ count, one, several }) => `${count} ${count === 1 ? one : several}`)
    .join(', ');
