import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, repeatable } from '#desk/commands/help.ts';
import { correctAnswers, type AnswerChange } from '#desk/people/correct.ts';
import { readAddress } from '#desk/people/held-data.ts';
import { printable } from '#desk/printable.ts';
import { changePerson, commandLine } from '#desk/audit-log/audit-log.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { displayedAnswer, readAnswers } from '#shared/own-fields.ts';

export function addCorrect(program: Command, desk: Desk): void {
  program
    .command('correct')
    .description('correct what a lead entered; the timeline keeps the previous values')
    .argument('<email>')
    .option('--name <name>')
    .option('--company <company>')
    .option(
      '--answer <id=text>',
      'answer to a custom question in form.yaml; empty text removes it; separate several choices with ;',
      repeatable,
    )
    .addHelpText('after', examples('correct ada@example.com --company "Analytical Engines"'))
    .action(async (typed, { answer: ownChanges = [], ...changes }) => {
      const email = readAddress(typed);
      const fields = Object.keys(changes) as (keyof typeof changes)[];
      if (fields.length === 0 && ownChanges.length === 0)
        throw new CommandFailure('Nothing to correct. Use --name, --company or --answer.', 2);
      const service = await desk.service();
      const corrected = await changePerson(service, commandLine(), { email }, async (tx, _email, note) => {
        const answers = ownChanges.map(readChange);
        const { before, after } = await correctAnswers(tx, service, { email, ...changes, answers });
        await note('corrected', email, 'correct');
        return `${email}: ${said(before)} → ${said(after)}`;
      });
      await desk.print(`${printable(corrected!.replaceAll('\n', ' '))}\n`);
    });
}

/** Reads a change such as `phone=+44 20 7946 0018`. */
function readChange(change: string): AnswerChange {
  const at = change.indexOf('=');
  return { id: change.slice(0, Math.max(0, at)).trim(), text: change.slice(at + 1) };
}

const said = ({ name, company, answers }: LeadAnswers): string =>
  [name, company, ...Object.values(readAnswers(answers)).map(({ answer }) => displayedAnswer(answer))]
    .filter(Boolean)
    .join(', ');
