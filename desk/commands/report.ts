import { InvalidArgumentError, type Command } from '@commander-js/extra-typings';

import { jsonText } from '#desk/commands/print.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { writeFileAtomically } from '#desk/commands/output-file.ts';
import { reportFile } from '#desk/report/report-html.ts';
import { PERIODS, reportOn } from '#desk/report/report.ts';
import { readPeriod } from '#desk/report/period.ts';
import { reportAsText } from '#desk/report/terminal-report.ts';

export function addReport(program: Command, desk: Desk): void {
  program
    .command('report')
    .description('report how many visitors became leads, where they came from, and why others did not')
    .option(
      '--period <period>',
      'today, yesterday, this-week, last-week, 7d, 4w, 30d (including today) or a month (2026-10); default: 30d',
      (text) => {
        const period = readPeriod(text, desk.clock(), desk.timeZone());
        if (period === null) throw new InvalidArgumentError(PERIODS);
        return period;
      },
    )
    .option('--source <name>', 'only this source')
    .option('--campaign <name>', 'only this utm_campaign')
    .option('--variant <name>', 'only this variant of the page')
    .option('--out <file>', 'one HTML file with charts')
    .option('--text', 'as text')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'report --out report.html',
        'report --source newsletter --campaign spring --text',
        'report --period 7d --json | jq .leads',
      ),
    )
    .action(
      async ({
        period = readPeriod('30d', desk.clock(), desk.timeZone())!,
        source,
        campaign: campaignName,
        variant,
        out,
        text,
        json,
      }) => {
        if (out === undefined && !text && !json)
          throw new CommandFailure('No output was chosen. Use --out report.html, --text or --json.', 2);
        if (text && json)
          throw new CommandFailure(
            'Both --text and --json write to standard output. Use only one of the two.',
            2,
          );
        const service = await desk.service();
        const { report, note } = await reportOn(service, period, {
          selection: { source, campaign: campaignName, variant },
          dnsServers: desk.dnsServers,
          signal: desk.signal,
          onProgress: (people) => desk.progress(`${people} people counted …`),
        });
        if (note !== null) desk.note(note);
        if (out !== undefined) {
          await writeFileAtomically(out, (append) =>
            append(reportFile(report, service.campaign.site.colors?.accent)),
          );
          desk.note(`${out} contains the report, which names no individuals.`);
        }
        // Printed last, because the program that reads the output may have quit.
        if (text) await desk.print(reportAsText(report));
        if (json) await desk.print(jsonText(report));
      },
    );
}
