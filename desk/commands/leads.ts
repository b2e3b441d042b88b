// desk leads: who has verified an address; or has not.
import type { Command } from '@commander-js/extra-typings';

import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import type { Desk } from '#desk/commands/command.ts';
import { headingLine, minuteOf, tableLine } from '#desk/commands/terminal-text.ts';
import {
  checkSelection,
  sayPeople,
  STATE_WORDS,
  withSelection,
  withState,
} from '#desk/commands/lead-selection.ts';
import { selectLeads } from '#desk/export/write-leads.ts';

const HEADINGS = ['email', 'name', 'company', 'source', 'flags'] as const;
/** As wide as most are. */
const WIDTHS = [16, 32, 22, 24, 14] as const;

export function addLeads(program: Command, desk: Desk): void {
  withSelection(withState(program.command('leads').description('list leads, the oldest first')), desk)
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run -s desk -- leads --since 7d
  $ npm run -s desk -- leads --source newsletter --json
  $ npm run -s desk -- leads --state unverified --since 7d`,
    )
    .action(async ({ json, ...selection }) => {
      checkSelection(selection);
      const { state } = selection;
      const { database, ...service } = await desk.service();
      await desk.print(json ? '[' : headingLine(desk, [STATE_WORDS[state].since, ...HEADINGS], WIDTHS));
      let count = 0;
      for await (const page of selectLeads(database.db, selection, unsubscribeUrlOf(service))) {
        const text = page.map(({ lead }, index) => {
          if (json) return `${count + index === 0 ? '' : ','}\n${JSON.stringify(lead)}`;
          const { state_since: at, email, name, company, source, flags } = lead;
          return tableLine([minuteOf(at), email, name, company, source, flags], WIDTHS);
        });
        count += page.length;
        await desk.print(text.join(''));
      }
      if (json) await desk.print('\n]\n');
      desk.note(`${sayPeople(count, state)}.`);
    });
}
