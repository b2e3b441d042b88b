// desk erase: forget somebody.
import type { Command } from '@commander-js/extra-typings';

import { pseudonymsOf } from '#server/access/pseudonyms.ts';
import { chainSignerOf } from '#server/access/secrets.ts';
import { CommandFailure, type Desk } from '#server/commands/desk.ts';
import { personalDataOf, readAddress } from '#server/commands/person-data.ts';
import { erasePersonalData } from '#server/db/personal-data.ts';
import { queueLeadErased } from '#server/webhooks/events.ts';

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
      const { database, secrets, clock, webhooks } = await desk.service();
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
        onLeadErased: (tx, lead) => queueLeadErased(tx, webhooks, { ...lead, now }),
      });
      webhooks.wake();
      if (json) await desk.print(`${JSON.stringify({ email, erased }, null, 2)}\n`);
      else await desk.print(`Erased: ${sayCounts(erased)}.\n`);
      desk.note('Backups and files that were exported before still hold it: erase it there too.');
    });
}

const sayRows = (data: Readonly<Record<string, readonly unknown[]>>): string =>
  `${sayCounts(Object.fromEntries(Object.entries(data).map(([table, rows]) => [table, rows.length])))}.`;

const sayCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([table, count]) => `${count} in ${table}`)
    .join(', ');
