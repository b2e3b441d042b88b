import type { Command } from '@commander-js/extra-typings';

import { jsonText } from '#desk/commands/answer.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { requirePersonalData, readAddress } from '#desk/people/held-data.ts';
import { printable } from '#desk/printable.ts';
import { secondOf } from '#desk/shown-time.ts';
import { timelineOf } from '#desk/people/timeline.ts';

export function addShow(program: Command, desk: Desk): void {
  program
    .command('show')
    .description('show the timeline of one person')
    .argument('<email>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('show ada@example.com'))
    .action(async (typed, { json }) => {
      const email = readAddress(typed);
      const { database, config } = await desk.service();
      const story = timelineOf(await requirePersonalData(database.db, email));
      if (json) {
        await desk.print(jsonText({ email, story }));
        return;
      }
      await desk.print(`${desk.paint('bold', email)}\n`);
      for (const { at, what, details } of story) {
        const lines = Object.entries(details).map(
          ([name, value]) => `    ${name}: ${printable(value.replaceAll('\n', ' '))}\n`,
        );
        await desk.print(
          `\n  ${secondOf(at, config.timeZone)}  ${desk.paint('bold', what)}\n${lines.join('')}`,
        );
      }
    });
}
