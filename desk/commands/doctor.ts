import type { Command } from '@commander-js/extra-typings';

import { jsonText } from '#desk/commands/print.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { readEmail } from '#desk/people/held-data.ts';
import { printable, counted } from '#desk/printable.ts';
import type { Paint } from '#desk/commands/terminal.ts';
import { examine } from '#desk/doctor/doctor.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import { readCampaignFolder, readSettings } from '#server/settings/env-file.ts';

const STATE_WIDTH = 9;
const CHECK_WIDTH = 14;

export function addDoctor(program: Command, desk: Desk): void {
  program
    .command('doctor')
    .description('check the whole installation and print how to fix problems')
    .option('--send <address>', 'also send a sample e-mail to this address')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
Checks settings, words, the running site, database, disk space, clock, secret, file permissions, mail account, sender, MX,
SPF, DKIM, DMARC, reverse DNS, PUBLIC_URL from outside, webhooks and the newest backup, for up to 30 seconds. Works even if
the site cannot start, and writes nothing to the database.
Results: ok; note (not checked, or up to you); warning (works, but fix it); problem (codes may not arrive or be safe).
Exit code 0: no problem; 1: at least one. JSON: {healthy, problems, warnings, findings: [{check, state, sentence,
publish?: {name, type, value}}]}. publish is the DNS record to set.
An accepted sample may still be lost. Look for it in the mailbox, with spf=pass, dkim=pass and dmarc=pass in its headers.
${examples('doctor', 'doctor --send you@example.com')}`,
    )
    .action(async ({ send, json }) => {
      const sampleTo = send === undefined ? null : readEmail(send);
      const { settings, campaignFolder, dnsServers } = desk.doctorTarget ?? {
        // The settings come first, because .env may name the campaign folder.
        settings: readSettings(),
        campaignFolder: readCampaignFolder(),
      };
      desk.progress('Checking settings, database, mail account and DNS …');
      const findings = await examine({
        settings,
        campaignFolder,
        dnsServers,
        sampleTo,
        now: desk.clock(),
        signal: desk.signal,
      });
      desk.signal.throwIfAborted();
      const problems = findings.filter(({ state }) => state === 'problem').length;
      const warnings = findings.filter(({ state }) => state === 'warning').length;
      await desk.print(
        json
          ? jsonText({ healthy: problems === 0, problems, warnings, findings })
          : findings.map((finding) => formatFinding(finding, desk)).join(''),
      );
      const summary = `${counted(problems, 'problem')} and ${counted(warnings, 'warning')}.`;
      if (problems > 0) throw new CommandFailure(summary);
      desk.note(summary);
    });
}

const COLOURS: Readonly<Record<Finding['state'], Paint>> = {
  ok: 'green',
  note: 'dim',
  warning: 'yellow',
  problem: 'red',
};

function formatFinding({ check, state, sentence, publish }: Finding, { paint }: Pick<Desk, 'paint'>): string {
  const indent = ' '.repeat(STATE_WIDTH + CHECK_WIDTH);
  const lines = [
    `${paint(COLOURS[state], state)}${' '.repeat(STATE_WIDTH - state.length)}${check.padEnd(CHECK_WIDTH - 1)} ${printable(sentence)}\n`,
    ...(publish
      ? [
          `${indent}publish  name:  ${publish.name}\n`,
          `${indent}         type:  ${publish.type}\n`,
          `${indent}         value: ${printable(publish.value)}\n`,
        ]
      : []),
  ];
  return lines.join('');
}
