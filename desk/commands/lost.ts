import type { Command } from '@commander-js/extra-typings';

import { printList } from '#desk/commands/print.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { formatMinute } from '#desk/shown-time.ts';
import { checkOrder, whenOption } from '#desk/commands/lead-selection.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { createPlatformLookup } from '#server/stats/mail-platforms.ts';
import { deletedNote, selectLost, type LostLeadRow } from '#desk/report/lost-leads.ts';
import { counted } from '#desk/printable.ts';

export function addLost(program: Command, desk: Desk): void {
  const when = whenOption(desk);
  program
    .command('lost')
    .description('list people who asked for a code but never entered one, with the reason')
    .option('--since <when>', 'asked at or after this time; default: 7d', when)
    .option('--until <when>', 'asked before this time', when)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
Reasons: refused (permanently, by the mail server), waiting (not sent yet; see the latest reply), too-late (expired before it
could be sent; see error_class), not-tried (accepted, perhaps as spam), wrong-attempts (counted in wrong_attempts), unknown
(MAIL_RETENTION_DAYS is over). These people proved neither address nor consent. Fix the causes, and do not write to them.
${examples(`lost --since 2026-11-01 --json | jq 'map(select(.reason == "refused"))'`)}`,
    )
    .action(async ({ since, until, json }) => {
      const now = desk.clock();
      const span = { from: since ?? now - 7 * DAY_MS, to: until ?? now + 1 };
      checkOrder(span.from, span.to);
      const { database, config } = await desk.service();
      const { dnsServers, signal } = desk;
      const lookup = createPlatformLookup(database, { dnsServers, now, signal });
      const reasons = new Map<string, number>();
      let stillOpen = 0;
      async function* lostLeads(): AsyncGenerator<readonly LostLeadRow[], void, void> {
        const { platformsOf } = lookup;
        for await (const { lost, open } of selectLost(database, span, { now, platformsOf })) {
          stillOpen += open;
          for (const { why } of lost) reasons.set(why, (reasons.get(why) ?? 0) + 1);
          yield lost;
        }
      }
      const count = await printList(desk, lostLeads(), {
        json,
        columns: [
          ['asked', 16, (row) => formatMinute(row.asked_at, config.timeZone)],
          ['email', 32, ({ email }) => email],
          ['name', 22, ({ name }) => name],
          ['mail', 16, ({ platform }) => platform],
          ['why', 0, (row) => `${row.why}${detailOf(row)}`],
        ],
      });
      desk.note(`${counted(count, 'lost lead')}.`);
      for (const [why, people] of [...reasons].toSorted(([, a], [, b]) => b - a))
        desk.note(`  ${String(people).padStart(String(count).length)}  ${why}`);
      for (const note of [lookup.skippedNote(), deletedNote(span, config, now)])
        if (note !== null) desk.note(note);
      if (stillOpen > 0)
        desk.note(`Not included: ${counted(stillOpen, 'person', 'people')} who can still enter a code.`);
    });
}

function detailOf({
  reason,
  wrong_attempts: wrongAttempts,
  reply,
  error_class: errorClass,
}: LostLeadRow): string {
  if (reason === 'wrong-attempts') return ` (${wrongAttempts})`;
  if (reason === 'not-tried') return '';
  if (reply !== null) return `: ${reply}`;
  return errorClass === null ? '' : ` (${errorClass})`;
}
