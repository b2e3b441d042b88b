// The options that choose leads, the same for every command that has them.
import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';

import type { Desk } from '#server/commands/desk.ts';
import { readWhen } from '#server/commands/when.ts';
import { DOMAIN_FLAGS } from '#server/leads/email-domain.ts';

/** Reads a time of an option, in milliseconds since 1970. */
export const whenOption =
  ({ clock }: Pick<Desk, 'clock'>) =>
  (text: string): number => {
    const ms = readWhen(text, clock());
    if (ms === null) throw new InvalidArgumentError('Say a day (2026-11-01), or how long ago: 12h, 7d, 4w.');
    return ms;
  };

/** Adds --since, --until, --source and --flag. */
export const withSelection = <Args extends unknown[], Options extends Record<string, unknown>>(
  command: Command<Args, Options>,
  desk: Pick<Desk, 'clock'>,
) => {
  const when = whenOption(desk);
  return command
    .option('--since <when>', 'first verified then or later: a day in UTC, or 12h, 7d, 4w ago', when)
    .option('--until <when>', 'first verified before that', when)
    .option('--source <name>', 'came from there: a utm_source; google-ads, meta, …; or direct')
    .addOption(new Option('--flag <flag>', 'whose address is of that kind').choices(DOMAIN_FLAGS));
};
