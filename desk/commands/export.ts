// desk export: writes leads for other programs.
import { type Command, Option } from '@commander-js/extra-typings';

import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { writeWhole } from '#desk/commands/output-file.ts';
import {
  checkSelection,
  sayPeople,
  withSearch,
  withSelection,
  withState,
} from '#desk/commands/lead-selection.ts';
import { complainOfOrigin } from '#desk/export/known-sources.ts';
import { rememberExported, type LeadState } from '#server/db/across/lead-pages.ts';
import { FORMAT_NAMES, FORMATS, FORMATS_WITH_STATE, type FormatName } from '#desk/export/export-columns.ts';
import { writeLeads } from '#desk/export/write-leads.ts';

const WIDEST_NAME = Math.max(...FORMAT_NAMES.map((name) => name.length));

export function addExport(program: Command, desk: Desk): void {
  withSelection(
    withState(withSearch(program.command('export').description('write leads for another program'))),
    desk,
  )
    .addOption(new Option('--format <format>', 'what for').choices(FORMAT_NAMES).default('csv' as const))
    .option('--out <file>', 'into this file, which only you can read; otherwise to standard output')
    .option('--since-last <name>', 'only those that no export of this name has had, and remember them')
    .option('--bom', 'begin with a byte order mark, for a spreadsheet that shows é as Ã©')
    .option(
      '--conversion-name <name>',
      'what the conversion is called in Google Ads, Microsoft Ads or Meta',
      'Lead',
    )
    .addHelpText(
      'after',
      `
Formats:
${FORMAT_NAMES.map((name) => `  ${name.padEnd(WIDEST_NAME)}  ${FORMATS[name].about}`).join('\n')}

Examples:
  $ npm run -s desk -- export --out leads.csv
  $ npm run -s desk -- export --format hubspot --since-last hubspot --out new-leads.csv
  $ npm run -s desk -- export --format jsonl --since 7d | jq .email
  $ npm run -s desk -- export --state imported --out imported.csv`,
    )
    .action(async ({ format, out, sinceLast, bom, conversionName, ...selection }) => {
      const { state, source } = selection;
      checkSelection(selection);
      refuseUnproven({ state, format, sinceLast });
      const { database, campaign, clock, ...service } = await desk.service();
      // Noted, not refused: a nightly job may begin before the first visitor comes from there.
      const complaint =
        source === undefined || state === 'imported'
          ? null
          : await complainOfOrigin(database.db, 'source', source);
      if (complaint !== null) desk.note(complaint);
      const exported: string[] = [];
      let count = 0;
      const write = async (append: (text: string) => Promise<void>) => {
        const options = {
          format,
          conversion: { name: conversionName },
          byteOrderMark: bom === true,
          unsubscribeUrl: unsubscribeUrlOf(service),
          fields: campaign.form.fields,
        };
        const pages = writeLeads(database.db, { ...selection, missingIn: sinceLast }, options);
        for await (const { text, leadIds } of pages) {
          desk.signal.throwIfAborted();
          await append(text);
          count += leadIds.length;
          // One text a page: a million ids would otherwise be a million objects.
          if (sinceLast !== undefined) exported.push(leadIds.join(' '));
          desk.progress(`${sayPeople(count, state)} …`);
        }
      };
      if (out === undefined) await write(desk.print);
      else await writeWhole(out, write);
      // Only now: after a failure before this line, the next export writes them again, and none is missed.
      if (sinceLast !== undefined) await rememberAll(exported, sinceLast);
      if (state === 'unverified')
        desk.note(
          'None of them has proved an address or a consent: this list is not there to write to them.',
        );
      desk.note(`${sayPeople(count, state)}${out === undefined ? '' : ` in ${out}`}.`);

      async function rememberAll(pages: readonly string[], name: string): Promise<void> {
        for (const page of pages) {
          const leadIds = page.split(' ').filter(Boolean);
          await rememberExported(database.db, { name, leadIds, now: clock() });
        }
      }
    });
}

/**
 * Files for other programs have no column for the state: people who are not verified would count as leads there.
 * @throws {CommandFailure}
 */
function refuseUnproven({
  state,
  format,
  sinceLast,
}: {
  state: LeadState;
  format: FormatName;
  sinceLast: string | undefined;
}): void {
  if (state === 'verified') return;
  if (!FORMATS_WITH_STATE.includes(format))
    throw new CommandFailure(
      `A file for ${format} cannot say that a person is not verified here, so it holds verified leads only. Use --format ${FORMATS_WITH_STATE.join(' or ')}, which have a column for it.`,
      2,
    );
  if (sinceLast !== undefined)
    throw new CommandFailure('--since-last remembers verified leads only. Use --since.', 2);
}
