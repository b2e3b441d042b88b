import type { Command } from '@commander-js/extra-typings';

import type { Desk } from '#desk/commands/command.ts';
import { examples } from '#desk/commands/help.ts';
import { readAddress } from '#desk/people/held-data.ts';
import { sendGuideTo } from '#desk/people/send-guide.ts';
import { changePerson, commandLine } from '#desk/audit-log/audit-log.ts';

export function addSendGuide(program: Command, desk: Desk): void {
  program
    .command('send-guide')
    .description('send the guide to a lead again (needs GUIDE_EMAIL)')
    .argument('<email>')
    .addHelpText('after', examples('send-guide ada@example.com'))
    .action(async (typed) => {
      const email = readAddress(typed);
      const service = await desk.service();
      const outcome = await changePerson(service, commandLine(), { email }, async (tx, _email, note) => {
        const queued = await sendGuideTo(tx, service, email);
        if (queued === 'queued') await note('sent-guide', email, 'send-guide');
        return queued;
      });
      service.mail.wake();
      desk.note(
        outcome === 'queued'
          ? `The guide for ${email} is queued. The running site will send it. To see when, run "show ${email}".`
          : `The guide for ${email} is already queued. To see why it was not sent yet, run "show ${email}".`,
      );
    });
}
