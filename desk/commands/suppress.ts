import path from 'node:path';

import { Option, type Command } from '@commander-js/extra-typings';

import { isoTime } from '#server/platform/time.ts';
import { printList } from '#desk/commands/print.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { openInput, savedAt } from '#desk/commands/input-file.ts';
import { writeFileAtomically } from '#desk/commands/output-file.ts';
import { readEmail } from '#desk/people/held-data.ts';
import {
  findRemovable,
  GIVEN_REASONS,
  describeSuppressions,
  sealBeforeRemoval,
  isSuppressedFor,
  suppressAddress,
  removeSuppressions,
  type GivenReason,
} from '#desk/people/suppress.ts';
import { changePerson, cliActor, logCommand } from '#desk/audit-log/audit-log.ts';
import { listedUpTo, printableLines, counted } from '#desk/printable.ts';
import { formatMinute } from '#desk/shown-time.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { findLead } from '#server/db/tables/leads.ts';
import { suppressionPages, type Suppression } from '#server/db/tables/suppressions.ts';
import { csvLine } from '#desk/export/csv.ts';
import { hasOptOutColumn } from '#desk/import/find-columns.ts';
import { isSubscribedFile, refusalInRow, statusOfFile } from '#desk/import/mail-status.ts';
import { readTable } from '#desk/import/read-people.ts';
import type { Service } from '#server/startup/service.ts';
import { asciiAddress, normaliseEmail } from '#shared/lead.ts';

const MAX_SHOWN = 20;
const HEADINGS = ['email', 'reason', 'since', 'note'] as const;

export function addSuppress(program: Command, desk: Desk): void {
  const suppress = program
    .command('suppress')
    .description('manage the addresses that get no mail except requested codes')
    .addHelpText('after', examples('suppress list'));
  addAdd(suppress, desk);
  addRemove(suppress, desk);
  addList(suppress, desk);
  addImport(suppress, desk);
  addExport(suppress, desk);
}

const reasonOption = (about: string) =>
  new Option('--reason <reason>', about).choices(GIVEN_REASONS).default('by-hand' as const);

function addAdd(suppress: Command, desk: Desk): void {
  suppress
    .command('add')
    .description('suppress an address')
    .argument('<email>')
    .addOption(reasonOption('why'))
    .option('--note <text>', 'stored with the suppression')
    .addHelpText(
      'after',
      examples('suppress add ada@example.com --reason unsubscribed --note "asked by telephone"'),
    )
    .action(async (typed, { reason, note }) => {
      const email = readEmail(typed);
      const service = await desk.service();
      const isNew = await changePerson(service, cliActor(), { email }, async (tx, _email, log) => {
        const added = await suppressAddress(tx, service, { email, reason, note: note ?? null });
        if (added) await log('suppressed', email, `suppress add, reason: ${reason}`);
        return added;
      });
      desk.note(
        isNew ? `${email} is suppressed (${reason}).` : `${email} was already suppressed for that reason.`,
      );
    });
}

function addRemove(suppress: Command, desk: Desk): void {
  suppress
    .command('remove')
    .description('remove an address that you added or that bounced')
    .argument('<email>')
    .option('--reason <text>', 'why the suppression was a mistake; stored in the consent chain')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      examples('suppress remove ada@example.com --reason "took her for a colleague of the same name"'),
    )
    .action(async (typed, { reason, yes }) => {
      const email = readEmail(typed);
      const note = reason?.trim() ?? null;
      if (note === '')
        throw new CommandFailure(
          'The reason is empty. Say why the suppression was a mistake: --reason "…".',
          2,
        );
      const service = await desk.service();
      const toRemove = await findRemovable(service.database.db, service, { email, note });
      const noted = toRemove.find(({ owner }) => owner === 'noted');
      const agreed =
        noted === undefined ||
        yes === true ||
        (await desk.confirm(
          `You noted that ${email} unsubscribed (${describeSuppressions([noted], service.config)}). Was this a mistake, and may this address get mail again? (y/N) `,
        ));
      if (!agreed)
        throw new CommandFailure(
          `Nothing was changed. You noted that ${email} unsubscribed (${describeSuppressions([noted], service.config)}). To undo this, answer "y" when asked, or use --yes.`,
        );
      await sealBeforeRemoval(service, { note, signal: desk.signal });
      const outcome = await changePerson(service, cliActor(), { email }, async (tx, _email, log) => {
        const result = await removeSuppressions(tx, service, { email, removable: toRemove, note });
        await log('unsuppressed', email, 'suppress remove');
        return result;
      });
      const { removed, remaining, position } = outcome!;
      const removedList = describeSuppressions(removed, service.config);
      desk.note(
        remaining.length === 0
          ? `${email} is no longer suppressed (${removedList}).`
          : `${email} is still suppressed (${describeSuppressions(remaining, service.config)}). Removed: ${removedList}.`,
      );
      if (position !== null) desk.note(`Your reason is entry ${position} of the consent chain.`);
      else if (note !== null)
        desk.note(
          'Your reason was not stored, because the address is not a lead and has no consent in the chain.',
        );
      if (removed.some(({ owner }) => owner === 'noted'))
        desk.note(
          'Programs that received lead.unsubscribed or the exported list do not know about this change. Make it there too.',
        );
    });
}

function addList(suppress: Command, desk: Desk): void {
  suppress
    .command('list')
    .description('list suppressed addresses, without those of erased people')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('suppress list'))
    .action(async ({ json }) => {
      const { database, config } = await desk.service();
      const count = await printList(desk, entryPages(database.db), {
        json,
        columns: [
          ['since', 16, ({ since }) => formatMinute(since, config.timeZone)],
          ['email', 32, ({ email }) => email],
          ['reason', 14, ({ reason }) => reason],
          ['note', 0, ({ note }) => note],
        ],
      });
      desk.note(`${describeEntries(count)}.`);
    });
}

function addExport(suppress: Command, desk: Desk): void {
  suppress
    .command('export')
    .description('write the list as a CSV file for your other mail programs')
    .option('--out <file>', 'file to write; default: standard output')
    .addHelpText('after', examples('suppress export --out suppressed.csv'))
    .action(async ({ out }) => {
      const service = await desk.service();
      let count = 0;
      const write = async (append: (text: string) => Promise<void>) => {
        // Logged first, because an interrupted export has already disclosed some addresses.
        await logCommand(service, 'exported', null, 'suppress export');
        await append(csvLine(HEADINGS));
        for await (const entries of entryPages(service.database.db)) {
          await append(
            entries
              .map(({ email, reason, since, note }) => csvLine([email, reason, since, printableLines(note)]))
              .join(''),
          );
          count += entries.length;
        }
      };
      if (out === undefined) await write(desk.print);
      else await writeFileAtomically(out, write);
      desk.note(`${describeEntries(count)}${out === undefined ? '' : ` in ${out}`}.`);
    });
}

function addImport(suppress: Command, desk: Desk): void {
  suppress
    .command('import')
    .description('suppress the addresses in a CSV file')
    .argument('<file>')
    .addOption(reasonOption('for lines without a "reason"'))
    .option('--dry-run', 'show what would happen, and change nothing')
    .addHelpText(
      'after',
      `
The first line names the columns: e-mail address, and optionally "reason". If the file says of anyone that they unsubscribed, bounced
or complained, in a column or its name, only these people are suppressed, recognised as in "import". Otherwise, everyone is.
People who verified here after the file was saved are not.
${examples('suppress import unsubscribed.csv --reason unsubscribed')}`,
    )
    .action(async (file, { reason: defaultReason, dryRun = false }) => {
      const { toSuppress, others, writtenAt } = await readList(file, defaultReason);
      const service = await desk.service();
      const suppressed: string[] = [];
      const verifiedSince: string[] = [];
      const seen = new Set<string>();
      for (const { email, reason } of toSuppress) {
        desk.signal.throwIfAborted();
        const hasVerifiedSince = async (tx: Db) => {
          const lead = await findLead(tx, email);
          return lead !== undefined && lead.last_verified_at > writtenAt;
        };
        if (dryRun) {
          const { db } = service.database;
          const entry = `${email} ${reason}`;
          if (await hasVerifiedSince(db)) verifiedSince.push(email);
          else if (!seen.has(entry) && !(await isSuppressedFor(db, service, { email, reason })))
            suppressed.push(email);
          seen.add(entry);
          continue;
        }
        const outcome = await changePerson(service, cliActor(), { email }, async (tx, _email, log) => {
          // Checked with the address locked, because the person may be verifying at this moment.
          if (await hasVerifiedSince(tx)) return 'verified since';
          if (!(await suppressAddress(tx, service, { email, reason, note: null }))) return 'known';
          // Logged with the first entry, because the import may be stopped before the last one.
          if (suppressed.length === 0) await log('suppressed', null, 'suppress import');
          return 'suppressed';
        });
        if (outcome === 'suppressed') suppressed.push(email);
        if (outcome === 'verified since') verifiedSince.push(email);
        desk.progress(`${suppressed.length} of ${toSuppress.length} …`);
      }
      const known = toSuppress.length - verifiedSince.length - suppressed.length;
      desk.note(
        dryRun
          ? `${counted(suppressed.length, 'address', 'addresses')} would be suppressed${suppressed.length > 0 ? `: ${listedUpTo(MAX_SHOWN, suppressed)}` : ''}.${known > 0 ? ` ${known} ${known === 1 ? 'is' : 'are'} already suppressed.` : ''} Nothing was changed.`
          : `${suppressed.length} of ${counted(toSuppress.length, 'address', 'addresses')} suppressed.${known > 0 ? ` ${known} ${known === 1 ? 'was' : 'were'} already suppressed.` : ''}`,
      );
      if (verifiedSince.length > 0)
        desk.note(
          `${counted(verifiedSince.length, 'person', 'people')} verified here after the file was saved, and still ${verifiedSince.length === 1 ? 'gets' : 'get'} mail: ${listedUpTo(MAX_SHOWN, verifiedSince)}. To suppress them too, save the file again and repeat this.`,
        );
      const [first] = others;
      if (first !== undefined)
        desk.note(
          `${counted(others.length, 'line does', 'lines do')} not say that the person left, such as line ${first.line}. To suppress these people too, use a file with only the column "email".`,
        );
    });
}

type ListLine = { readonly email: string; readonly reason: GivenReason; readonly line: number };

/** Reads the whole file before changing anything. */
async function readList(
  file: string,
  defaultReason: GivenReason,
): Promise<{
  readonly toSuppress: readonly ListLine[];
  readonly others: readonly ListLine[];
  readonly writtenAt: number;
}> {
  await using handle = await openInput(file);
  const name = path.basename(file);
  const fileStatus = statusOfFile(name);
  const lines: (ListLine & { readonly optedOut: boolean; readonly hasReason: boolean })[] = [];
  let hasStatuses = false;
  for await (const { line, cells, headings, ...table } of readTable(file, handle)) {
    const reasonAt = headings.findIndex((heading) => heading.toLowerCase() === 'reason');
    const statuses = table.columns.statuses.filter(({ index }) => index !== reasonAt);
    const columns = { ...table.columns, statuses };
    hasStatuses ||= hasOptOutColumn(columns);
    // Its cells may be in the wrong columns.
    if (cells.length > columns.count)
      throw new CommandFailure(
        `Nothing was changed, because line ${line} of ${file} has ${cells.length} columns, but the file has ${counted(columns.count, 'heading')}. Fix that line first.`,
      );
    const typed = cells[columns.email] ?? '';
    if (asciiAddress(typed) === null)
      throw new CommandFailure(
        `Nothing was changed, because line ${line} of ${file} has no valid e-mail address. Fix that line first.`,
      );
    const typedReason = (cells[reasonAt] ?? '').toLowerCase();
    const reason = typedReason === '' ? defaultReason : GIVEN_REASONS.find((one) => one === typedReason);
    if (reason === undefined)
      throw new CommandFailure(
        `Nothing was changed, because the reason in line ${line} of ${file} is not one of ${GIVEN_REASONS.join(', ')}. Use one of these reasons, or leave the cell empty and use --reason.`,
      );
    const refusal = refusalInRow(cells, columns) ?? fileStatus?.refusal ?? null;
    lines.push({
      email: normaliseEmail(typed),
      reason: typedReason === '' ? (refusal ?? reason) : reason,
      line,
      optedOut: refusal !== null,
      hasReason: typedReason !== '',
    });
  }
  // If so, a line without such a statement is not suppressed.
  const namesOptOuts =
    fileStatus !== null || isSubscribedFile(name) || hasStatuses || lines.some(({ optedOut }) => optedOut);
  const isToSuppress = ({ optedOut, hasReason }: (typeof lines)[number]) =>
    optedOut || hasReason || !namesOptOuts;
  return {
    toSuppress: lines.filter(isToSuppress),
    others: lines.filter((line) => !isToSuppress(line)),
    writtenAt: await savedAt(handle),
  };
}

type ListedEntry = { readonly [Name in (typeof HEADINGS)[number]]: string };

async function* entryPages(
  db: Service['database']['db'],
): AsyncGenerator<readonly ListedEntry[], void, void> {
  for await (const page of suppressionPages(db)) yield page.flatMap(toListedEntries);
}

const toListedEntries = ({ email, reason, note, created_at: at }: Suppression): ListedEntry[] =>
  email === null ? [] : [{ email, reason, since: isoTime(at), note: note ?? '' }];

const describeEntries = (count: number): string => counted(count, 'entry', 'entries');
