// desk report: writes the figures of a period.
import { InvalidArgumentError, type Command } from '@commander-js/extra-typings';

import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { writeWhole } from '#desk/commands/output-file.ts';
import { gatherReport } from '#desk/report/report.ts';
import { createPlatformLookup } from '#server/figures/mail-platform-lookup.ts';
import { complainOfOrigin } from '#desk/export/known-sources.ts';
import { shownSource, type Origin } from '#server/attribution/source.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { readPeriod } from '#desk/report/period.ts';
import { reportAsText } from '#desk/report/terminal-report.ts';

export function addReport(program: Command, desk: Desk): void {
  program
    .command('report')
    .description('tell how many became leads, from where, and why others did not')
    .option(
      '--period <period>',
      'the last 7d, 4w, 30d, today included; or a month: 2026-10 (default: 30d)',
      (text) => {
        const period = readPeriod(text, desk.clock());
        if (period === null)
          throw new InvalidArgumentError(
            'Say how many days or weeks up to today (7d, 4w, 30d), or a month that has begun (2026-10).',
          );
        return period;
      },
    )
    .option('--source <name>', 'only who came from there: a utm_source; google-ads, meta, …; or direct')
    .option('--campaign <name>', 'only who came by this campaign: a utm_campaign')
    .option('--out <file>', 'write it as a page with charts, which needs no other file')
    .option('--text', 'write it to the terminal')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run -s desk -- report --out report.html
  $ npm run -s desk -- report --period 2026-10 --text
  $ npm run -s desk -- report --source newsletter --campaign spring --text
  $ npm run -s desk -- report --period 7d --json | jq .leads`,
    )
    .action(
      async ({
        period = readPeriod('30d', desk.clock())!,
        source,
        campaign: campaignName,
        out,
        text,
        json,
      }) => {
        if (out === undefined && !text && !json)
          throw new CommandFailure('Say where it goes: --out report.html, --text or --json.', 2);
        if (text && json)
          throw new CommandFailure('Both would go to standard output: say --text or --json.', 2);
        const { database, campaign, config, clock } = await desk.service();
        const only = await readOrigin(database.db, { source, campaign: campaignName });
        const { title, colors } = campaign.site;
        const { dnsServers, signal } = desk;
        const now = clock();
        const lookup = createPlatformLookup(database, { dnsServers, now, signal });
        const report = await gatherReport(database, period, {
          title,
          fields: campaign.form.fields,
          variants: campaign.variants.map(({ name, consent }) => ({ name, consentVersion: consent.version })),
          retention: config.retention,
          now,
          only,
          platformsOf: lookup.platformsOf,
          onProgress: (people) => {
            signal.throwIfAborted();
            desk.progress(`${people} people counted …`);
          },
        });
        signal.throwIfAborted();
        const complaint = lookup.complaint();
        if (complaint !== null) desk.note(complaint);
        if (text) await desk.print(reportAsText(report));
        if (json) await desk.print(jsonText(report));
        if (out === undefined) return;
        // Loaded here only: the library that draws is large.
        const { reportAsHtml } = await import('#desk/report/report-page.ts');
        await writeWhole(out, (append) => append(reportAsHtml(report, colors?.accent)));
        desk.note(`${out} holds the report. It names nobody.`);
      },
    );
}

/** @throws {CommandFailure} when no one came from there */
async function readOrigin(db: Db, wanted: Origin): Promise<Origin | undefined> {
  for (const kind of ['source', 'campaign'] as const) {
    const name = wanted[kind];
    const complaint = name === undefined ? null : await complainOfOrigin(db, kind, name);
    if (complaint !== null) throw new CommandFailure(complaint, 2);
  }
  const { source, campaign } = wanted;
  if (source === undefined && campaign === undefined) return undefined;
  // As the report shows all names: it holds no address.
  return {
    ...(source !== undefined && { source: shownSource(source) }),
    ...(campaign !== undefined && { campaign: shownSource(campaign) }),
  };
}
