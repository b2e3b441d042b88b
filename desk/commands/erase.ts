import type { Command } from '@commander-js/extra-typings';

import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { ELSEWHERE, erasePerson, describeCounts, describeWhatIsErased } from '#desk/people/erase.ts';
import { readAddress } from '#desk/people/held-data.ts';
import { commandLine } from '#desk/audit-log/audit-log.ts';

export function addErase(program: Command, desk: Desk): void {
  program
    .command('erase')
    .description('erase one person everywhere')
    .argument('<email>')
    .option('--yes', 'do not ask for confirmation')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      "\nEnds the person's sessions, deletes their mail in data/mail/ and rewrites a database of up to 100 MB, which delays forms by" +
        '\none to three seconds. Exit code 1: some data remains, and the message says what to do. Backups and exports keep the data.' +
        `\n${examples('erase ada@example.com')}`,
    )
    .action(async (typed, { yes, json }) => {
      const email = readAddress(typed);
      const service = await desk.service();
      const what = await describeWhatIsErased(service, email);
      const agreed = yes === true || (await desk.confirm(`Erase all data about ${email}? ${what}. (y/N) `));
      if (!agreed) {
        throw new CommandFailure('Nothing was erased. Answer "y" when asked, or use --yes.');
      }
      const erasure = await erasePerson(service, commandLine(), { email }, { details: () => 'erase' });
      const { counts, failures, advice } = erasure!;
      const { mailFiles, ...erased } = counts;
      // Printing comes last, because the program that reads the output may have quit.
      if (json) await desk.print(jsonText({ email, erased, mailFiles }));
      else await desk.print(`Erased: ${describeCounts(counts)}.\n`);
      for (const sentence of [ELSEWHERE, ...advice]) desk.note(sentence);
      if (failures.length > 0)
        throw new CommandFailure(`The rows were erased, but some data may remain. ${failures.join(' ')}`);
    });
}
