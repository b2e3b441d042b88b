// desk import: people from a previous tool, with where their consent came from.
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';

import { Option, type Command } from '@commander-js/extra-typings';
import { v7 as uuid } from 'uuid';

import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure, type Desk } from '#desk/commands/command.ts';
import { createCollector } from '#server/platform/collect-garbage.ts';
import { openInput } from '#desk/commands/input-file.ts';
import { printable } from '#desk/commands/terminal-text.ts';
import { importPeople, type ImportCounts } from '#server/db/tables/imported-leads.ts';
import {
  findColumns,
  readPerson,
  type Columns,
  type DateOrder,
  type FoundPerson,
} from '#desk/import/people.ts';
import { asciiAddress } from '#shared/lead.ts';
import { NAME_MAX_LENGTH, NAME_MIN_LENGTH } from '#shared/lengths-and-resend-seconds.ts';
import { isSingleLine } from '#shared/text.ts';

/** People in one transaction: some milliseconds. */
const AT_ONCE = 500;
/** Who has read these knows what is wrong. */
const BAD_LINES_TOLD = 20;

type BadLine = { readonly line: number; readonly reason: string };
type Outcome = ImportCounts & {
  /** Of the file, without the headings and without empty ones. */
  readonly rows: number;
  /** Addresses that stand in the file once more. */
  readonly repeated: number;
  /** Who has unsubscribed, or whose mail came back, where they come from. */
  readonly unsubscribed: number;
  readonly badLines: readonly BadLine[];
};

export function addImport(program: Command, desk: Desk): void {
  program
    .command('import')
    .description('take people from a CSV of a previous tool, as not verified here')
    .argument('<file>')
    .requiredOption('--consent-source <text>', 'where their consent came from, for whoever asks one day')
    .option('--dry-run', 'say what would happen, and change nothing')
    .option('--skip-bad', 'leave out the lines that cannot be used; otherwise one of them stops it all')
    .addOption(
      new Option('--date-order <order>', 'how dates such as 3/4/2024 are written there').choices([
        'dmy',
        'mdy',
      ]),
    )
    .option('--json', 'say what happened as one JSON document')
    .addHelpText(
      'after',
      `
The first line names the columns: an e-mail address; name, or first and last name; company; when consent was given.

Examples:
  $ npm run -s desk -- import mailchimp.csv --consent-source "Mailchimp, double opt-in, 2022 to 2026" --dry-run
  $ npm run -s desk -- import mailchimp.csv --consent-source "Mailchimp, double opt-in, 2022 to 2026"`,
    )
    .action(async (file, { consentSource: typed, dryRun = false, skipBad = false, dateOrder, json }) => {
      const consentSource = typed.trim();
      if (
        consentSource.length < NAME_MIN_LENGTH ||
        consentSource.length > NAME_MAX_LENGTH ||
        !isSingleLine(consentSource)
      )
        throw new CommandFailure(
          `Say with --consent-source where their consent came from, in one line of ${NAME_MIN_LENGTH} to ${NAME_MAX_LENGTH} characters.`,
          2,
        );
      await using handle = await openInput(file);
      const { database, secrets, clock } = await desk.service();
      const now = clock();
      const reading = { file, handle, dateOrder, now, signal: desk.signal };
      // All of it is read before anything is written.
      const badLines: BadLine[] = [];
      let rows = 0;
      for await (const row of readRows(reading, (used) => desk.note(`Columns used: ${sayHeadings(used)}.`))) {
        rows += 1;
        if (row.type === 'bad') badLines.push({ line: row.line, reason: row.reason });
        if (rows % AT_ONCE === 0) desk.progress(`${rows} lines read …`);
      }
      if (badLines.length > 0 && !skipBad) {
        tellBadLines(desk, badLines);
        throw new CommandFailure(
          `Nothing was imported. Mend ${badLines.length === 1 ? 'this line' : `these ${badLines.length} lines`}, or leave ${badLines.length === 1 ? 'it' : 'them'} out with --skip-bad.`,
        );
      }

      const counts = { imported: 0, alreadyImported: 0, verified: 0, erased: 0, suppressed: 0 };
      let [repeated, unsubscribed, read] = [0, 0, 0];
      const seen = new Set<string>();
      let batch: FoundPerson[] = [];
      const write = async () => {
        if (batch.length === 0) return;
        const people = batch.map((person) => ({
          ...person,
          // Those of one millisecond are in order, too: people stay in that of the file.
          id: uuid(),
          pseudonyms: pseudonymsOf(secrets, person.email),
        }));
        batch = [];
        const options = { consentSource, fileName: path.basename(file), now, dryRun };
        const some = await importPeople(database, people, options);
        for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += some[name];
        desk.progress(`${read} of ${rows} lines …`);
      };
      for await (const row of readRows(reading)) {
        read += 1;
        if (row.type === 'bad' && !skipBad) throw changed(file);
        if (row.type === 'unsubscribed') unsubscribed += 1;
        if (row.type !== 'person') continue;
        if (seen.has(row.person.email)) {
          repeated += 1;
          continue;
        }
        seen.add(row.person.email);
        if (batch.push(row.person) === AT_ONCE) await write();
      }
      await write();

      const outcome: Outcome = { rows, ...counts, repeated, unsubscribed, badLines };
      if (json) await desk.print(jsonText({ file, dryRun, consentSource, ...outcome }));
      tell(desk, { file, dryRun, outcome });
    });
}

type ReadRow = ReturnType<typeof readPerson> & { readonly line: number };

/** @throws {CommandFailure} when the file is no CSV with addresses */
async function* readRows(
  {
    file,
    handle,
    dateOrder,
    now,
    signal,
  }: {
    file: string;
    handle: FileHandle;
    dateOrder: DateOrder | undefined;
    now: number;
    signal: AbortSignal;
  },
  onColumns: (used: readonly string[]) => void = () => {},
): AsyncGenerator<ReadRow, void, void> {
  // Nothing else needs the library that reads CSV.
  const { readCsv } = await import('#desk/import/read-csv.ts');
  const collect = createCollector();
  let columns: Columns | undefined;
  for await (const event of readCsv(handle)) {
    signal.throwIfAborted();
    collect(1);
    if (event.type === 'fault') throw new CommandFailure(`${file} ${event.sentence}`);
    const { cells, line } = event;
    if (columns !== undefined) {
      yield { line, ...readPerson(cells, columns, { dateOrder, now }) };
      continue;
    }
    const found = findColumns(cells);
    if (found === null)
      throw new CommandFailure(
        // Somebody's, perhaps: it is not repeated.
        cells.some((cell) => asciiAddress(cell) !== null)
          ? `${file} has no headings: an e-mail address stands in its first line. Put one above it that names the columns, such as: email,name,company`
          : `${file} has no column of e-mail addresses: its first line names ${sayHeadings(cells)}. Call the column "email".`,
      );
    columns = found.columns;
    onColumns(found.used);
  }
  if (columns === undefined)
    throw new CommandFailure(`${file} is empty. Name the CSV that the previous tool exported.`);
}

const sayHeadings = (headings: readonly string[]): string =>
  headings.map((heading) => `"${printable(heading)}"`).join(', ');

const changed = (file: string): CommandFailure =>
  new CommandFailure(
    `${file} was changed while it was read. Call it again: who is there already is passed over.`,
  );

function tellBadLines(desk: Desk, badLines: readonly BadLine[]): void {
  for (const { line, reason } of badLines.slice(0, BAD_LINES_TOLD)) desk.note(`Line ${line} ${reason}.`);
  const more = badLines.length - BAD_LINES_TOLD;
  if (more > 0) desk.note(`… and ${more} more.`);
}

function tell(
  desk: Desk,
  { file, dryRun, outcome }: { file: string; dryRun: boolean; outcome: Outcome },
): void {
  const { imported, alreadyImported, verified, erased, suppressed } = outcome;
  const { repeated, unsubscribed, badLines } = outcome;
  const people = (count: number) => (count === 1 ? '1 person' : `${count} people`);
  tellBadLines(desk, badLines);
  desk.note(
    dryRun
      ? `${people(imported)} would be imported from ${file}. Nothing was changed.`
      : `${people(imported)} imported from ${file}, as not verified by this page.`,
  );
  for (const [count, what] of [
    [alreadyImported, 'from an import before, left as they are'],
    [verified, 'verified leads already, left as they are'],
    [erased, 'erased here before, not brought back'],
    [suppressed, 'not to be mailed any more here, left out'],
    [unsubscribed, 'unsubscribed there, or not to be written to, left out'],
    [repeated, 'in the file once more, taken once'],
    [badLines.length, 'in a bad line, left out'],
  ] as const)
    if (count > 0) desk.note(`  ${String(count).padStart(String(outcome.rows).length)}  ${what}`);
}
