import type { Command } from '@commander-js/extra-typings';

import type { Service } from '#server/startup/service.ts';
import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { printList } from '#desk/commands/answer.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { minuteOf } from '#desk/shown-time.ts';
import {
  checkSelection,
  countOption,
  describePeople,
  STATE_WORDS,
  withFilters,
  withState,
} from '#desk/commands/lead-selection.ts';
import { personAsJson, type PersonAsJson } from '#desk/export/export-columns.ts';
import { complainOfSelection } from '#desk/export/known-sources.ts';
import { selectLeads } from '#desk/export/write-leads.ts';
import type { LeadSelection } from '#desk/people/selection.ts';
import { displayedAnswer } from '#shared/own-fields.ts';

const HEADINGS = ['email', 'name', 'company', 'source', 'flags'] as const;
const WIDTHS = [16, 32, 22, 24, 14] as const;
const READ_WIDTH = 16;

const FURTHER_WIDTHS = [9];
const ANSWER_WIDTH = 20;

export function addLeads(program: Command, desk: Desk): void {
  withState(withFilters(program.command('leads').description('list leads, oldest first')), desk)
    .option('--newest', 'newest first')
    .option('--limit <count>', 'at most this many', countOption)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'leads --newest --limit 20',
        'leads --search "analytical engines"',
        'leads --state unverified --since 7d',
      ),
    )
    .action(async ({ json, newest: newestFirst, ...options }) => {
      const selection = { ...options, newestFirst };
      checkSelection(selection);
      const { state } = selection;
      const service = await desk.service();
      const { database, campaign, config } = service;
      const { timeZone } = config;
      const complaint = await complainOfSelection(database.db, selection);
      if (complaint !== null) throw new CommandFailure(complaint, 2);
      const { fields } = campaign.form;
      const mayRead = state === 'verified' || state === 'suppressed';
      const [sinceWidth, ...otherWidths] = WIDTHS;
      const widths = [sinceWidth, ...(mayRead ? [READ_WIDTH] : []), ...otherWidths];
      const count = await printList(desk, leadsOf(service, selection), {
        json: json === true,
        headings: [
          STATE_WORDS[state].since,
          ...(mayRead ? ['first read'] : []),
          ...HEADINGS,
          ...fields.map(({ id }) => id),
        ],
        widths:
          fields.length === 0 ? widths : [...widths, ...FURTHER_WIDTHS, ...fields.map(() => ANSWER_WIDTH)],
        cells: ({
          state_since: at,
          first_read_at: readAt,
          email,
          name,
          company,
          source: cameFrom,
          flags,
          answers,
        }) => [
          minuteOf(at, timeZone),
          ...(mayRead ? [readAt === null ? '' : minuteOf(readAt, timeZone)] : []),
          email,
          name,
          company,
          cameFrom,
          flags.join(' '),
          ...fields.map(({ id }) => displayedAnswer(answers?.[id]?.answer).replaceAll('\n', ' ')),
        ],
      });
      desk.note(`${describePeople(count, state)}.`);
    });
}

async function* leadsOf(
  service: Service,
  selection: LeadSelection,
): AsyncGenerator<readonly PersonAsJson[], void, void> {
  const unsubscribeUrl = unsubscribeUrlOf(service);
  for await (const page of selectLeads(service.database.db, selection))
    yield page.map((record) => personAsJson(record, unsubscribeUrl));
}
