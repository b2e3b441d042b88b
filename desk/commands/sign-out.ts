import type { Command } from '@commander-js/extra-typings';

import type { Desk } from '#desk/commands/command.ts';
import { examples } from '#desk/commands/help.ts';
import { readEmail } from '#desk/people/held-data.ts';
import { logCommand } from '#desk/audit-log/audit-log.ts';
import { counted } from '#desk/printable.ts';
import { endSessionsOf } from '#server/db/tables/desk-access.ts';

export function addSignOut(program: Command, desk: Desk): void {
  program
    .command('sign-out')
    .description('end all browser sessions of a desk user, but keep their passkeys')
    .argument('<email>')
    .addHelpText('after', examples('sign-out ada@example.com'))
    .action(async (typed) => {
      const email = readEmail(typed);
      const service = await desk.service();
      await logCommand(service, 'signed-out', email, 'sign-out');
      const ended = await endSessionsOf(service.database.db, { email, now: service.clock() });
      desk.note(
        ended === 0
          ? `${email} has no session. To prevent further sign-ins, remove the address from DESK_PEOPLE and restart the site.`
          : `${counted(ended, 'session')} of ${email} ${ended === 1 ? 'was' : 'were'} ended. To prevent further sign-ins, remove the address from DESK_PEOPLE and restart the site.`,
      );
    });
}
