import { InvalidArgumentError, Option, type Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { cleanPastedText, type LeadSelection } from '#desk/people/selection.ts';
import { readWhen } from '#desk/typed-times.ts';
import { counted } from '#desk/printable.ts';
import { IMPORTED } from '#server/webhooks/lead-as-json.ts';
import { CONTACT_STATES, type ContactState } from '#server/db/contacts/filter.ts';
import { DOMAIN_FLAGS } from '#server/leads/email-domain.ts';
import { NAMED_DAYS } from '#shared/days.ts';

export const whenOption =
  ({ clock, timeZone }: Pick<Desk, 'clock' | 'timeZone'>) =>
  (text: string): number => {
    const ms = readWhen(text, clock(), timeZone());
    if (ms === null)
      throw new InvalidArgumentError(
        `Use a date such as 2026-11-01, ${NAMED_DAYS.join(', ')}, or an age such as 12h, 7d or 4w.`,
      );
    return ms;
  };

export const STATE_WORDS: Readonly<
  Record<ContactState, { readonly one: string; readonly many: string; readonly since: string }>
> = {
  verified: { one: 'lead', many: 'leads', since: 'first verified' },
  suppressed: { one: 'suppressed lead', many: 'suppressed leads', since: 'first verified' },
  unverified: { one: 'unverified person', many: 'unverified people', since: 'asked' },
  imported: { one: 'imported person', many: 'imported people', since: 'imported' },
};

export const describePeople = (count: number, state: ContactState): string =>
  counted(count, STATE_WORDS[state].one, STATE_WORDS[state].many);

export function checkOrder(since: number | undefined, until: number | undefined): void {
  if (since !== undefined && until !== undefined && since >= until)
    throw new CommandFailure('--until must be later than --since. Change one of the two.', 2);
}

export function checkSelection(selection: LeadSelection): void {
  const { state, flag, news, source, campaign, since, until } = selection;
  checkOrder(since, until);
  const hasFormFilter = [flag, news, campaign].some((value) => value !== undefined);
  if (state === 'imported' && (hasFormFilter || (source ?? IMPORTED) !== IMPORTED))
    throw new CommandFailure(
      '--flag, --news, --source and --campaign do not apply to imported people, because they have not sent a form. Leave them out.',
      2,
    );
}

const searchOption = (text: string): string => {
  const cleaned = cleanPastedText(text).trim();
  if (cleaned === '') throw new InvalidArgumentError('Enter part of an e-mail address, a name or a company.');
  return cleaned;
};

export const countOption = (text: string): number => {
  const count = Number(text);
  if (!/^\d{1,9}$/.test(text) || count === 0) throw new InvalidArgumentError('Use a number of 1 or more.');
  return count;
};

// TypeScript cannot describe a command with all these options in one type, so two functions add them.
export const withState = <Args extends unknown[], Options extends Record<string, unknown>>(
  command: Command<Args, Options>,
  desk: Pick<Desk, 'clock' | 'timeZone'>,
) => {
  const when = whenOption(desk);
  return command
    .addOption(
      new Option('--state <state>', 'leads, suppressed leads, people who entered no code, or imported people')
        .choices(CONTACT_STATES)
        .default('verified' as const),
    )
    .option('--since <when>', 'first verified, asked or imported at or after this time', when)
    .option('--until <when>', 'first verified, asked or imported before this time', when)
    .option('--news', 'only people who agreed to get news');
};

export const withFilters = <Args extends unknown[], Options extends Record<string, unknown>>(
  command: Command<Args, Options>,
) =>
  command
    .option('--search <text>', 'text in the e-mail address, name or company', searchOption)
    .option('--source <name>', 'a utm_source, an advertiser (google-ads, …), a site or direct')
    .option('--campaign <name>', 'a utm_campaign')
    .addOption(new Option('--flag <flag>', 'kind of e-mail address').choices(DOMAIN_FLAGS));
