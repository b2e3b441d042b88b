// desk lost: who asked for a code and never entered it, and why.
import type { Command } from '@commander-js/extra-typings';

import type { Desk } from '#desk/commands/command.ts';
import { headingLine, minuteOf, tableLine } from '#desk/commands/terminal-text.ts';
import { whenOption } from '#desk/commands/lead-selection.ts';
import { readWhen } from '#desk/commands/typed-times.ts';
import { createPlatformLookup } from '#server/figures/mail-platform-lookup.ts';
import { selectLost, type LostLeadRow } from '#desk/report/lost-leads.ts';

const HEADINGS = ['asked', 'email', 'name', 'mail', 'why'];
const WIDTHS = [16, 32, 22, 16] as const;

export function addLost(program: Command, desk: Desk): void {
  const when = whenOption(desk);
  program
    .command('lost')
    .description('list who asked for a code and never entered it, and why')
    .option('--since <when>', 'asked then or later: a day in UTC, or 12h, 7d, 4w ago (default: 7d)', when)
    .option('--until <when>', 'asked before that', when)
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run -s desk -- lost
  $ npm run -s desk -- lost --since 2026-11-01 --json | jq 'map(select(.reason == "refused"))'`,
    )
    .action(async ({ since, until, json }) => {
      const { database, clock } = await desk.service();
      const now = clock();
      const { dnsServers, signal } = desk;
      const lookup = createPlatformLookup(database, { dnsServers, now, signal });
      const span = { from: since ?? readWhen('7d', now)!, to: until ?? now + 1 };
      const reasons = new Map<string, number>();
      let count = 0;
      let stillOpen = 0;
      await desk.print(json ? '[' : headingLine(desk, HEADINGS, WIDTHS));
      for await (const { lost, open } of selectLost(database, span, {
        now,
        platformsOf: lookup.platformsOf,
      })) {
        const text = json
          ? lost.map((row, index) => `${count + index === 0 ? '' : ','}\n${JSON.stringify(row)}`)
          : lost.map(asLine);
        count += lost.length;
        stillOpen += open;
        for (const { why } of lost) reasons.set(why, (reasons.get(why) ?? 0) + 1);
        await desk.print(text.join(''));
      }
      if (json) await desk.print('\n]\n');
      desk.note(count === 1 ? '1 lost lead.' : `${count} lost leads.`);
      for (const [why, people] of [...reasons].toSorted(([, a], [, b]) => b - a))
        desk.note(`  ${String(people).padStart(String(count).length)}  ${why}`);
      const complaint = lookup.complaint();
      if (complaint !== null) desk.note(complaint);
      if (stillOpen > 0) desk.note(`Not among them: ${stillOpen} who can still enter their code.`);
    });
}

function asLine({ asked_at, email, name, platform, reason, why, ...row }: LostLeadRow): string {
  return tableLine([minuteOf(asked_at), email, name, platform, `${why}${detailOf()}`], WIDTHS);

  function detailOf(): string {
    if (reason === 'wrong-tries') return ` (${row.wrong_tries})`;
    if (reason === 'not-tried') return '';
    if (row.reply !== null) return `: ${row.reply}`;
    return row.error_class === null ? '' : ` (${row.error_class})`;
  }
}
