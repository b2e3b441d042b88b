// desk erase: removes all that is held about an address.
import type { Command } from '@commander-js/extra-typings';

import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { chainSignerOf } from '#server/secrets/secrets.ts';
import { removeRemains } from '#desk/commands/compact.ts';
import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { personalDataOf, readAddress } from '#desk/commands/held-data.ts';
import { erasePersonalData, type PersonalData } from '#server/db/across/personal-data.ts';

export function addErase(program: Command, desk: Desk): void {
  program
    .command('erase')
    .description('remove one address everywhere')
    .argument('<email>')
    .option('--yes', 'do not ask first')
    .option('--json', 'say what was removed as one JSON document')
    .addHelpText('after', '\nExample:\n  $ npm run -s desk -- erase ada@example.com')
    .action(async (typed, { yes, json }) => {
      const email = readAddress(typed);
      const { config, database, secrets, clock, mail, webhooks } = await desk.service();
      const data = await personalDataOf(database.db, email);
      const agreed =
        yes === true ||
        (await desk.confirm(`Erase all that is held about ${email}? ${sayRows(data)} (y/N) `));
      if (!agreed) {
        throw new CommandFailure('Nothing was erased. Say "y" when you are asked, or call it with --yes.');
      }
      const pseudonyms = pseudonymsOf(secrets, email);
      const now = clock();
      const erased = await erasePersonalData(database, {
        email,
        pseudonyms,
        signer: chainSignerOf(secrets),
        now,
        onLeadErased: (tx, lead) => webhooks.queueErased(tx, { ...lead, now }),
      });
      webhooks.wake();
      const mailFiles = await mail.deleteFilesAbout(email);
      if (json) await desk.print(jsonText({ email, erased, mailFiles }));
      else await desk.print(`Erased: ${sayCounts({ ...erased, mailFiles })}.\n`);
      desk.note('Backups and files that were exported before still hold it: erase it there too.');
      await removeRemains(desk, config.database);
    });
}

const sayRows = (data: PersonalData): string =>
  `${sayCounts(Object.fromEntries(Object.entries(data).map(([table, rows]) => [table, rows.length])))}.`;

type Erased = keyof PersonalData | 'mailFiles';

/** Singular and plural, in the order in which they are listed. */
const WORDS: Readonly<Record<Erased, readonly [one: string, several: string]>> = {
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
  desk_log: ['line of the record', 'lines of the record'],
  mailFiles: ['mail in a file', 'mails in files'],
};

const sayCounts = (counts: Readonly<Partial<Record<Erased, number>>>): string =>
  Object.entries(WORDS)
    .map(([what, [one, several]]) => ({ count: counts[what as Erased] ?? 0, one, several }))
    .filter(({ count }) => count > 0)
    .map(({ count, one, several }) => `${count} ${count === 1 ? one : several}`)
    .join(', ');
