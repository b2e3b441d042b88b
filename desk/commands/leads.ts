import type { Command } from '@commander-js/extra-typings';

import type { Service } from '#server/startup/service.ts';
import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { printList, type ListColumn } from '#desk/commands/print.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { formatMinute } from '#desk/shown-time.ts';
import {
  checkSelection,
  countOption,
  describePeople,
  STATE_WORDS,
  withFilters,
  withState,
} from '#desk/commands/lead-selection.ts';
import { personAsJson, type PersonAsJson } from '#desk/export/export-columns.ts';
import { explainUnknownOrigins } from '#desk/export/known-sources.ts';
import { selectLeads } from '#desk/export/write-leads.ts';
import type { LeadSelection } from '#desk/people/selection.ts';
import { displayedAnswer } from '#shared/own-fields.ts';

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
      const unknownOrigin = await explainUnknownOrigins(database.db, selection);
      if (unknownOrigin !== null) throw new CommandFailure(unknownOrigin, 2);
      const { fields } = campaign.form;
      const mayRead = state === 'verified' || state === 'suppressed';
      const firstRead: ListColumn<PersonAsJson> = [
        'first read',
        16,
        ({ first_read_at: at }) => (at === null ? '' : formatMinute(at, timeZone)),
      ];
      const count = await printList(desk, leadsOf(service, selection), {
        json,
        columns: [
          [STATE_WORDS[state].since, 16, (lead) => formatMinute(lead.state_since, timeZone)],
          ...(mayRead ? [firstRead] : []),
          ['email', 32, ({ email }) => email],
          ['name', 22, ({ name }) => name],
          ['company', 24, ({ company }) => company],
          ['source', 14, ({ source }) => source],
          ['flags', 9, ({ flags }) => flags.join(' ')],
          ...fields.map(({ id }): ListColumn<PersonAsJson> => [
            id,
            20,
            ({ answers }) => displayedAnswer(answers?.[id]?.answer).replaceAll('\n', ' '),
          ]),
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
