// desk leads: lists leads, or people in another state.
import type { Command } from '@commander-js/extra-typings';

import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import { printList } from '#desk/commands/answer.ts';
import type { Desk } from '#desk/commands/command.ts';
import { minuteOf } from '#desk/shown-time.ts';
import {
  checkSelection,
  sayPeople,
  STATE_WORDS,
  withSelection,
  withState,
} from '#desk/commands/lead-selection.ts';
import type { ExportedLead } from '#desk/export/export-columns.ts';
import { selectLeads } from '#desk/export/write-leads.ts';

const HEADINGS = ['email', 'name', 'company', 'source', 'flags'] as const;
/** Wide enough for most. */
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
      const count = await printList(desk, leadsOf(database.db, selection, unsubscribeUrlOf(service)), {
        json: json === true,
        headings: [STATE_WORDS[state].since, ...HEADINGS],
        widths: WIDTHS,
        cells: ({ state_since: at, email, name, company, source, flags }) => [
          minuteOf(at),
          email,
          name,
          company,
          source,
          flags,
        ],
      });
      desk.note(`${sayPeople(count, state)}.`);
    });
}

async function* leadsOf(
  ...selection: Parameters<typeof selectLeads>
): AsyncGenerator<readonly ExportedLead[], void, void> {
  for await (const page of selectLeads(...selection)) yield page.map(({ lead }) => lead);
}
