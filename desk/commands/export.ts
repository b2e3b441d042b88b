import { statSync } from 'node:fs';

import { type Command, Option } from '@commander-js/extra-typings';

import { isoTime } from '#server/platform/time.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { printList } from '#desk/commands/print.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples } from '#desk/commands/help.ts';
import { cannotWrite, writeFileAtomically } from '#desk/commands/output-file.ts';
import { checkSelection, describePeople, withFilters, withState } from '#desk/commands/lead-selection.ts';
import { explainUnknownOrigins } from '#desk/export/known-sources.ts';
import { logCommand } from '#desk/audit-log/audit-log.ts';
import { formatMinute } from '#desk/shown-time.ts';
import { listExports, type NamedExport, rememberExported } from '#server/db/queries/export-history.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { checkFormat, FORMAT_NAMES, FORMATS, labelsWithoutProperty } from '#desk/export/export-columns.ts';
import { writeLeads } from '#desk/export/write-leads.ts';
import { counted } from '#desk/printable.ts';

const csvHeadings = (): string =>
  FORMATS.csv.columns
    .map(([heading], at) => `${at % 8 === 0 ? '\n  ' : ' '}${heading}`)
    .join('')
    .slice(1);

const WIDEST_NAME = Math.max(...FORMAT_NAMES.map((name) => name.length));

export function addExport(program: Command, desk: Desk): void {
  withState(withFilters(program.command('export').description('write leads for another program')), desk)
    .addOption(new Option('--format <format>', 'see below; default: csv').choices(FORMAT_NAMES))
    .option('--out <file>', 'file to write; default: standard output')
    .option('--since-last <name>', 'only leads not yet exported under this name; records them as exported')
    .option('--again <name>', 'repeat the last export under this name; needs its --format')
    .option('--list', 'list the names used so far; writes no leads')
    .option('--json', 'with --list: as one JSON document')
    .option('--bom', 'add a byte order mark, for spreadsheets that show é as Ã©')
    .option('--conversion-name <name>', 'name of the conversion at the advertising platform', 'Lead')
    .addHelpText(
      'after',
      `
Formats:
${FORMAT_NAMES.map((name) => `  ${name.padEnd(WIDEST_NAME)}  ${FORMATS[name].about}`).join('\n')}

Columns of csv:
${csvHeadings()}

Only csv and jsonl can contain people who are not verified leads. --since-last never replaces a file, because later exports don't
repeat its leads.
${examples('export --format hubspot --since-last hubspot --out new-leads-$(date +%F).csv', 'export --format jsonl --since 7d | jq .email')}`,
    )
    .action(async ({ out, sinceLast, again, list, json, bom, conversionName, ...rest }) => {
      if (list) return printExports(desk, json);
      if (json) throw new CommandFailure('--json requires --list. For leads as JSON, use --format jsonl.', 2);
      if (again !== undefined && sinceLast !== undefined)
        throw new CommandFailure('Use either --since-last for new leads or --again for the last export.', 2);
      const { format = 'csv', ...selection } = rest;
      const { state, source, campaign: campaignName } = selection;
      checkSelection(selection);
      checkFormat(format, state);
      if (state !== 'verified' && (sinceLast ?? again) !== undefined)
        throw new CommandFailure(
          '--since-last and --again only apply to verified leads. Use --since instead.',
          2,
        );
      // Only the leads of an export are remembered, not its format.
      if (again !== undefined && rest.format === undefined)
        throw new CommandFailure(
          '--again needs the format of that export. Add it, such as --format hubspot.',
          2,
        );
      if (sinceLast !== undefined && out !== undefined && statSync(out, { throwIfNoEntry: false })?.isFile())
        throw cannotWrite(
          out,
          'it may contain leads of an earlier export. Import them, then delete the file, or name another one.',
        );
      const service = await desk.service();
      const { database, campaign, clock } = service;
      const exportedIn = again === undefined ? undefined : await lastExport(database.db, again);
      // An unknown source or campaign only causes a note, because a nightly job may start before the first visitor arrives.
      const unknownOrigin = await explainUnknownOrigins(database.db, selection);
      if (unknownOrigin !== null) desk.note(unknownOrigin);
      /** The IDs of a page, joined, because a million separate strings need far more memory. */
      const exportedPages: string[] = [];
      let count = 0;
      const write = async (append: (text: string) => Promise<void>) => {
        const chosen = { ...selection, missingIn: sinceLast, exportedIn };
        const pages = writeLeads(service, chosen, { format, conversionName, byteOrderMark: bom === true });
        // Logged first, because an interrupted export has already disclosed some leads.
        await logCommand(service, 'exported', null, describeExport());
        for await (const { text, leadIds } of pages) {
          desk.signal.throwIfAborted();
          await append(text);
          count += leadIds.length;
          if (sinceLast !== undefined) exportedPages.push(leadIds.join(' '));
          desk.progress(`${describePeople(count, state)} …`);
        }
      };
      if (out === undefined) await write(desk.print);
      else await writeFileAtomically(out, write);
      // Remembered last, so that after a failure the next export repeats these leads.
      if (sinceLast !== undefined) {
        // All rows share one time, which identifies the export.
        const now = clock();
        for (const page of exportedPages) {
          const leadIds = page.split(' ').filter(Boolean);
          await rememberExported(database.db, { name: sinceLast, leadIds, now });
        }
      }
      if (exportedIn !== undefined && count < exportedIn.leads)
        desk.note(
          `${exportedIn.leads - count} of the ${exportedIn.leads} leads in that export are missing, because they are now suppressed or excluded by your options.`,
        );
      if (state === 'unverified')
        desk.note('These people have proved neither their address nor their consent. Do not write to them.');
      const missing = labelsWithoutProperty(format, campaign.form.fields);
      if (missing.length > 0)
        desk.note(
          `The file has no answers to ${missing.join(', ')}. To add them, name a property of ${format} in form.yaml (docs/customising.md).`,
        );
      desk.note(`${describePeople(count, state)}${out === undefined ? '' : ` in ${out}`}.`);

      /**
       * Omits the search text, the source and the campaign: they may be personal data, and lines in the audit log are not erased.
       */
      function describeExport(): string {
        const { flag, news } = selection;
        const named = { format, state, flag, news, sinceLast, again };
        return [
          'export',
          ...Object.entries(named).flatMap(([name, value]) => (value ? [`${name}: ${value}`] : [])),
          ...(source === undefined ? [] : ['of a source']),
          ...(campaignName === undefined ? [] : ['of a campaign']),
        ].join(', ');
      }
    });
}

async function lastExport(db: Db, name: string): Promise<NamedExport['last']> {
  const exports = await listExports(db);
  const found = exports.find((one) => one.name === name);
  if (found !== undefined) return found.last;
  const names = exports.map((one) => one.name);
  throw new CommandFailure(
    names.length === 0
      ? 'No export has a name yet. Use --since-last NAME to create one.'
      : `No export is called “${name}”. Existing names: ${names.join(', ')}.`,
    2,
  );
}

async function printExports(desk: Desk, json: true | undefined): Promise<void> {
  const { database, config } = await desk.service();
  const exports = await listExports(database.db);
  const rows = exports.map(({ name, last, leads }) => ({
    name,
    last_at: isoTime(last.at),
    last_leads: last.leads,
    leads,
  }));
  const count = await printList(desk, [rows], {
    json,
    columns: [
      ['name', 24, ({ name }) => name],
      ['last export', 16, (row) => formatMinute(row.last_at, config.timeZone)],
      ['with leads', 10, (row) => String(row.last_leads)],
      ['leads in all', 0, ({ leads }) => String(leads)],
    ],
  });
  desk.note(`${counted(count, 'name')}.`);
}
