// desk correct: changes the name or company of a lead.
import { randomUUIDv7 } from 'node:crypto';

import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { nothingHeld, readAddress } from '#desk/commands/held-data.ts';
import { printable } from '#desk/printable.ts';
import { correctLead } from '#server/db/tables/corrections.ts';
import { complaintIn, Lead, type LeadAnswers } from '#shared/lead.ts';

export function addCorrect(program: Command, desk: Desk): void {
  program
    .command('correct')
    .description('change the name or company of a lead; the story keeps what stood there before')
    .argument('<email>')
    .option('--name <name>')
    .option('--company <company>')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s desk -- correct ada@example.com --company "Analytical Engines"',
    )
    .action(async (typed, changes) => {
      const email = readAddress(typed);
      const fields = Object.keys(changes) as (keyof typeof changes)[];
      if (fields.length === 0)
        throw new CommandFailure('Say what is to be changed: --name, --company or both.', 2);
      const { database, campaign, clock, webhooks } = await desk.service();
      const checked: { -readonly [Field in keyof LeadAnswers]?: LeadAnswers[Field] } = {};
      for (const field of fields) {
        const text = changes[field];
        if (text === undefined) continue;
        const result = Lead.shape[field].safeParse(text);
        if (!result.success) {
          const { message } = result.error.issues[0]!;
          throw new CommandFailure(complaintIn(campaign.interface.validation, message) ?? message, 2);
        }
        checked[field] = result.data;
      }
      const now = clock();
      const result = await correctLead(database, {
        email,
        id: randomUUIDv7(),
        now,
        ...checked,
        onCorrected: (tx, leadId) => webhooks.queue(tx, { type: 'lead.updated', leadId, now }),
      });
      webhooks.wake();
      if (result === null) throw nothingHeld(email);
      const { before, after } = result;
      await desk.print(`${printable(`${email}: ${said(before)} → ${said(after)}`)}\n`);
    });
}

const said = (answers: LeadAnswers): string => Object.values(answers).filter(Boolean).join(', ');
