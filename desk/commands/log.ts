import type { Command } from '@commander-js/extra-typings';

import { printList } from '#desk/commands/print.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { logEntryOf } from '#desk/audit-log/audit-log.ts';
import { formatMinute } from '#desk/shown-time.ts';
import type { LogEntry } from '#desk/endpoints/auth.ts';
import { counted } from '#desk/printable.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { deskLogPages } from '#server/db/tables/desk-log.ts';

export function addLog(program: Command, desk: Desk): void {
  program
    .command('log')
    .description('show the audit log of actions in the browser and by commands')
    .option('--newest', 'newest first')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('log --newest | head'))
    .action(async ({ newest, json }) => {
      const { database, config } = await desk.service();
      const count = await printList(desk, linesOf(database.db, newest === true ? 'newest' : 'oldest'), {
        json,
        columns: [
          ['when', 16, ({ at }) => formatMinute(at, config.timeZone)],
          ['who', 28, ({ who }) => who],
          ['action', 16, ({ action }) => action],
          ['about', 32, ({ about }) => about ?? ''],
          ['details', 24, ({ details }) => details],
          ['from', 0, ({ from }) => from],
        ],
      });
      desk.note(`${counted(count, 'line')}.`);
    });
}

async function* linesOf(db: Db, order: 'newest' | 'oldest'): AsyncGenerator<readonly LogEntry[], void, void> {
  for await (const rows of deskLogPages(db, order)) yield rows.map(logEntryOf);
}
