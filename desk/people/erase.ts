// Erases a person: rows, mail in files, and what a deletion leaves in the files of the database.
import { personalDataOf } from '#desk/people/held-data.ts';
import { removeRemains, type Remains } from '#desk/people/remains.ts';
import { erasePersonalData, listPersonalData, type PersonalData } from '#server/db/across/personal-data.ts';
import type { Service } from '#server/run/service.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { chainSignerOf } from '#server/secrets/secrets.ts';

export type ErasedCounts = Readonly<Record<keyof PersonalData | 'mailFiles', number>>;

/**
 * Erases all that is held about an address.
 * @param email as stored
 * @returns how many rows of each table, and files of mail, are gone
 */
export async function eraseAddress(
  { database, secrets, clock, mail, webhooks }: Service,
  email: string,
): Promise<ErasedCounts> {
  const now = clock();
  const erased = await erasePersonalData(database, {
    email,
    pseudonyms: pseudonymsOf(secrets, email),
    signer: chainSignerOf(secrets),
    now,
    onLeadErased: (tx, lead) => webhooks.queueErased(tx, { ...lead, now }),
  });
  webhooks.wake();
  return { ...erased, mailFiles: await mail.deleteFilesAbout(email) };
}

/** To be called after {@link eraseAddress}. @returns null when nothing is left */
export const eraseRemains = ({ config }: Pick<Service, 'config'>): Promise<Remains | null> =>
  removeRemains(config.database);

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
