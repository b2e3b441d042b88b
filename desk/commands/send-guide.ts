// desk send-guide: mails the guide to a lead once more.
import type { Command } from '@commander-js/extra-typings';
import { v7 as uuid } from 'uuid';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { readAddress } from '#desk/commands/held-data.ts';
import { sendGuideAgain, type GuideAgain } from '#server/mail/letters/guide-mail.ts';

export function addSendGuide(program: Command, desk: Desk): void {
  program
    .command('send-guide')
    .description('mail the guide to a lead once more')
    .argument('<email>')
    .addHelpText('after', '\nExample:\n  $ npm run -s desk -- send-guide ada@example.com')
    .action(async (typed) => {
      const email = readAddress(typed);
      const { clock, mail, ...service } = await desk.service();
      const now = clock();
      const outcome = await sendGuideAgain(service, { email, id: uuid({ msecs: now }), now });
      if (outcome.type === 'refused') throw new CommandFailure(sayRefusal(email, outcome));
      mail.wake();
      desk.note(
        outcome.type === 'queued'
          ? `The guide for ${email} is queued. The running page sends it; "show ${email}" says when.`
          : `The guide for ${email} waits to be sent already. "show ${email}" says why.`,
      );
    });
}

function sayRefusal(email: string, refusal: Extract<GuideAgain, { type: 'refused' }>): string {
  switch (refusal.why) {
    case 'off':
      return 'Nothing was queued: GUIDE_EMAIL is off, so no mail with the guide is sent. Set it to link or attachment, and restart the page.';
    case 'no lead':
      return `Nothing was queued: ${email} is no lead, because the address was never verified here. Ask its owner to request a code on the page.`;
    case 'erased':
      return `Nothing was queued: ${email} was erased. Only its owner can come back, with a new code on the page.`;
    case 'suppressed': {
      const { reasons } = refusal;
      const cure = reasons.some((reason) => reason === 'unsubscribed' || reason === 'complained')
        ? 'Only its owner can come back, with a new code on the page.'
        : `Take it off the list first: suppress remove ${email}`;
      return `Nothing was queued: ${email} is not to be mailed (${reasons.join(', ')}). ${cure}`;
    }
  }
}
