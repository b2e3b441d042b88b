// Commands about one person.
import type { Command } from '@commander-js/extra-typings';

import { changePerson, cliActor, logCommand } from '#desk/audit-log/audit-log.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { jsonText } from '#desk/commands/print.ts';
import type { Desk } from '#desk/commands/command.ts';
import { JSON_OPTION, examples, repeatable } from '#desk/commands/help.ts';
import { writeJsonAndPage } from '#desk/commands/output-file.ts';
import { correctAnswers, type AnswerChange } from '#desk/people/correct.ts';
import { OTHER_COPIES, describeCounts, describePersonalData, erasePerson } from '#desk/people/erase.ts';
import { readEmail, requirePersonalData } from '#desk/people/held-data.ts';
import { personPage } from '#desk/people/person-page.ts';
import { sendGuideTo } from '#desk/people/send-guide.ts';
import { timelineOf } from '#desk/people/timeline.ts';
import { printable } from '#desk/printable.ts';
import { formatIfTime, formatSecond } from '#desk/shown-time.ts';
import { isoTime } from '#server/platform/time.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { displayedAnswer, readAnswers } from '#shared/own-fields.ts';

export function addShow(program: Command, desk: Desk): void {
  program
    .command('show')
    .description('show the timeline of one person')
    .argument('<email>')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('show ada@example.com'))
    .action(async (typed, { json }) => {
      const email = readEmail(typed);
      const { database, config, clock } = await desk.service();
      const timeline = timelineOf(await requirePersonalData(database.db, email), clock());
      if (json) {
        await desk.print(jsonText({ email, timeline }));
        return;
      }
      await desk.print(`${desk.paint('bold', email)}\n`);
      for (const { at, what, details } of timeline) {
        const lines = Object.entries(details).map(
          ([name, value]) =>
            `    ${name}: ${printable(formatIfTime(value, config.timeZone).replaceAll('\n', ' '))}\n`,
        );
        await desk.print(
          `\n  ${formatSecond(at, config.timeZone)}  ${desk.paint('bold', what)}\n${lines.join('')}`,
        );
      }
    });
}

export function addPerson(program: Command, desk: Desk): void {
  program
    .command('person')
    .description('write everything stored about one person as JSON and as a printable page')
    .argument('<email>')
    .requiredOption('--out <file>', 'writes <file>.json and <file>.html')
    .addHelpText('after', examples('person ada@example.com --out ada'))
    .action(async (typed, { out }) => {
      const email = readEmail(typed);
      const service = await desk.service();
      const { database, campaign, clock } = service;
      const data = await requirePersonalData(database.db, email);
      const now = clock();
      const timeline = timelineOf(data, now);
      const writtenAt = isoTime(now);
      const files = await writeJsonAndPage(out, {
        document: { email, writtenAt, timeline, ...data },
        page: personPage({ email, data, timeline, site: campaign.site, writtenAt }),
        onBegin: () => logCommand(service, 'exported', email, 'person'),
      });
      desk.note(`${files} contain all data stored about ${email}.`);
    });
}

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
    .action(async (typed, { answer: answerChanges = [], ...changes }) => {
      const email = readEmail(typed);
      const fields = Object.keys(changes) as (keyof typeof changes)[];
      if (fields.length === 0 && answerChanges.length === 0)
        throw new CommandFailure('Nothing to correct. Use --name, --company or --answer.', 2);
      const service = await desk.service();
      const corrected = await changePerson(service, cliActor(), { email }, async (tx, _email, log) => {
        const answers = answerChanges.map(readChange);
        const { before, after } = await correctAnswers(tx, service, { email, ...changes, answers });
        await log('corrected', email, 'correct');
        return `${email}: ${describeAnswers(before)} → ${describeAnswers(after)}`;
      });
      await desk.print(`${printable(corrected!.replaceAll('\n', ' '))}\n`);
    });
}

/** Example: `phone=+44 20 7946 0018` */
function readChange(change: string): AnswerChange {
  const at = change.indexOf('=');
  return { id: change.slice(0, Math.max(0, at)).trim(), text: change.slice(at + 1) };
}

const describeAnswers = ({ name, company, answers }: LeadAnswers): string =>
  [name, company, ...Object.values(readAnswers(answers)).map(({ answer }) => displayedAnswer(answer))]
    .filter(Boolean)
    .join(', ');

export function addSendGuide(program: Command, desk: Desk): void {
  program
    .command('send-guide')
    .description('send the guide to a lead again (needs GUIDE_EMAIL)')
    .argument('<email>')
    .addHelpText('after', examples('send-guide ada@example.com'))
    .action(async (typed) => {
      const email = readEmail(typed);
      const service = await desk.service();
      const outcome = await changePerson(service, cliActor(), { email }, async (tx, _email, log) => {
        const queued = await sendGuideTo(tx, service, email);
        if (queued === 'queued') await log('sent-guide', email, 'send-guide');
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

export function addErase(program: Command, desk: Desk): void {
  program
    .command('erase')
    .description('erase one person everywhere')
    .argument('<email>')
    .option('--yes', 'do not ask for confirmation')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      "\nEnds the person's sessions, deletes their mail in data/mail/ and rewrites a database of up to 100 MB, which delays forms by" +
        '\none to three seconds. Exit code 1: some data remains, and the message says what to do. Backups and exports keep the data.' +
        `\n${examples('erase ada@example.com')}`,
    )
    .action(async (typed, { yes, json }) => {
      const email = readEmail(typed);
      const service = await desk.service();
      const what = await describePersonalData(service, email);
      const agreed = yes === true || (await desk.confirm(`Erase all data about ${email}? ${what}. (y/N) `));
      if (!agreed) {
        throw new CommandFailure('Nothing was erased. Answer "y" when asked, or use --yes.');
      }
      const erasure = await erasePerson(service, cliActor(), { email }, { details: () => 'erase' });
      const { counts, failures, advice } = erasure!;
      const { mailFiles, ...erased } = counts;
      // Printed last, because the program that reads the output may have quit.
      if (json) await desk.print(jsonText({ email, erased, mailFiles }));
      else await desk.print(`Erased: ${describeCounts(counts)}.\n`);
      for (const sentence of [OTHER_COPIES, ...advice]) desk.note(sentence);
      if (failures.length > 0)
        throw new CommandFailure(`The rows were erased, but some data may remain. ${failures.join(' ')}`);
    });
}
