// desk send-guide: mails the guide to a lead once more.
import type { Command } from '@commander-js/extra-typings';

import type { Desk } from '#desk/commands/command.ts';
import { readAddress } from '#desk/people/held-data.ts';
import { sendGuideTo } from '#desk/people/send-guide.ts';
import { noteCommand } from '#desk/record/record.ts';

export function addSendGuide(program: Command, desk: Desk): void {
  program
    .command('send-guide')
    .description('mail the guide to a lead once more')
    .argument('<email>')
    .addHelpText('after', '\nExample:\n  $ npm run -s desk -- send-guide ada@example.com')
    .action(async (typed) => {
      const email = readAddress(typed);
      const service = await desk.service();
      const outcome = await sendGuideTo(service, email);
      if (outcome === 'queued') await noteCommand(service, 'sent-guide', email, 'send-guide');
      desk.note(
        outcome === 'queued'
          ? `The guide for ${email} is queued. The running page sends it; "show ${email}" says when.`
          : `The guide for ${email} waits to be sent already. "show ${email}" says why.`,
      );
    });
}
