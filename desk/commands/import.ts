import path from 'node:path';

import { Option, type Command } from '@commander-js/extra-typings';
import { v7 as uuid } from 'uuid';

import { pseudonymsOf } from '#server/secrets/secrets.ts';
import { jsonText } from '#desk/commands/print.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION, repeatable } from '#desk/commands/help.ts';
import { openInput } from '#desk/commands/input-file.ts';
import { countImport, importPeople, type ImportCounts } from '#server/db/tables/imported-leads.ts';
import type { Headings } from '#desk/import/find-columns.ts';
import type { ExcludingStatus } from '#desk/import/mail-status.ts';
import { isGarbled, type DroppedAnswer, type FoundPerson } from '#desk/import/read-person.ts';
import { readPeople, describeHeadings, type PeopleFile } from '#desk/import/read-people.ts';
import { listedUpTo, printable, counted } from '#desk/printable.ts';
import { changeAndLog, cliActor } from '#desk/audit-log/audit-log.ts';
import { headingKey } from '#shared/import-headings.ts';
import { NAME_MAX_LENGTH, NAME_MIN_LENGTH } from '#shared/lengths-and-resend.ts';
import { isSingleLine } from '#shared/typed-input.ts';

/** A transaction with this many people takes a few milliseconds. */
const BATCH_SIZE = 500;
const BAD_LINES_SHOWN = 20;
const STATUSES_SHOWN = 20;
const STATUS_MAX_LENGTH = 100;

type BadLine = { readonly line: number; readonly reason: string };
type FileReport = {
  readonly rows: number;
  readonly repeated: number;
  readonly unsubscribed: number;
  readonly statusesLeftOut: readonly CountedStatus[];
  readonly alsoInBadLine: number;
  readonly badLines: readonly BadLine[];
  readonly answersLeftOut: readonly CountedAnswers[];
  readonly garbled: { readonly count: number; readonly line: number };
  readonly columnsUsed: readonly string[];
  readonly columnsNotUsed: readonly string[];
};
type Outcome = FileReport & ImportCounts;
/** `line`: the first one. */
type CountedAnswers = DroppedAnswer & { readonly count: number; readonly line: number };
type CountedStatus = ExcludingStatus & { readonly count: number };

export function addImport(program: Command, desk: Desk): void {
  program
    .command('import')
    .description('import people from a CSV file as contacts, not as leads')
    .argument('<file>')
    .requiredOption('--consent-source <text>', 'where their consent came from')
    .option('--dry-run', 'report what would happen and change nothing')
    .option('--skip-bad', 'skip people with a bad line; by default, one bad line stops the import')
    .addOption(new Option('--date-order <order>', 'order in dates such as 3/4/2024').choices(['dmy', 'mdy']))
    .option('--take-status <status>', 'also import people with this status; repeatable', repeatable)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
The first line names the columns: e-mail address; name, or first and last name; company; time of consent (not "Created"); and
custom questions by ID, label or CRM property.
Reads every column about permission to send mail ("Status", "Unsubscribed", …; also in French, German, Italian and Spanish),
words such as "bounced" in tags and other columns, and file names such as "unsubscribed_….csv".
Imports people whose status is empty or means yes (subscribed, active, confirmed, …). Any other status in any row excludes the
person, unless --take-status names it. Never imports anyone who is suppressed or was erased here. Does not change leads.
Reads CSV in UTF-8 or UTF-16.
Dates: 2024-03-04 (UTC without a zone) or 4.3.2024.
Importing a file twice changes nothing, so you can repeat an interrupted import.
${examples('import mailchimp.csv --consent-source "Mailchimp, double opt-in, 2022 to 2026" --dry-run')}`,
    )
    .action(async (file, options) => {
      const {
        consentSource: typed,
        dryRun = false,
        skipBad = false,
        dateOrder,
        takeStatus = [],
        json,
      } = options;
      const consentSource = readConsentSource(typed);
      await using handle = await openInput(file);
      const service = await desk.service();
      const { database, campaign, secrets, clock } = service;
      const now = clock();
      const { people, report } = await readWholeFile(desk, {
        file,
        handle,
        dateOrder,
        now,
        signal: desk.signal,
        ownFields: campaign.form.fields,
        acceptedStatuses: new Set(takeStatus.map((status) => headingKey(status.trim()))),
      });
      const { badLines } = report;
      if (badLines.length > 0 && !skipBad) {
        noteBadLines(desk, badLines);
        throw new CommandFailure(
          `Nothing was imported. Fix ${badLines.length === 1 ? 'this line' : `these ${badLines.length} lines`}, or use --skip-bad to skip bad lines.`,
        );
      }
      const counts = {
        imported: 0,
        withoutConsentTime: 0,
        alreadyImported: 0,
        verified: 0,
        erased: 0,
        suppressed: 0,
      };
      for (let at = 0; at < people.length; at += BATCH_SIZE) {
        desk.signal.throwIfAborted();
        // Inserted in the order of the file.
        const batch = people.slice(at, at + BATCH_SIZE).map((person, index) => ({
          ...person,
          id: uuid({ msecs: now, seq: at + index }),
          keys: pseudonymsOf(secrets, person.email),
        }));
        const fileName = path.basename(file);
        const written = dryRun
          ? await countImport(database.db, batch)
          : await changeAndLog(service, cliActor(), async (tx, log) => {
              const done = await importPeople(tx, batch, { consentSource, fileName, now });
              // Logged with the first batch, because the import may be stopped before the last one.
              if (done.imported > 0 && counts.imported === 0) await log('imported', null, 'import');
              return done;
            });
        for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += written[name];
        desk.progress(`${at + batch.length} of ${people.length} people …`);
      }
      const outcome: Outcome = { ...report, ...counts };
      if (json) await desk.print(jsonText({ file, dryRun, consentSource, ...outcome }));
      noteOutcome(desk, { file, dryRun, outcome });
    });
}

function readConsentSource(typed: string): string {
  const text = typed.trim();
  if (text.length >= NAME_MIN_LENGTH && text.length <= NAME_MAX_LENGTH && isSingleLine(text)) return text;
  throw new CommandFailure(
    `The value of --consent-source is invalid. Say where these people agreed, in one line of ${NAME_MIN_LENGTH} to ${NAME_MAX_LENGTH} characters.`,
    2,
  );
}

/** Reads the whole file before importing anyone, because any row may say that a person unsubscribed. */
async function readWholeFile(
  desk: Desk,
  source: PeopleFile,
): Promise<{
  readonly people: readonly FoundPerson[];
  readonly report: FileReport;
}> {
  const all: FoundPerson[] = [];
  const badLines: BadLine[] = [];
  const inBadLines = new Set<string>();
  const excludedEmails = new Set<string>();
  const excluding: ExcludingStatus[] = [];
  const droppedAnswers: (DroppedAnswer & { readonly line: number })[] = [];
  const garbledLines: number[] = [];
  let headings: Headings = { used: [], unused: [] };
  let [rows, excludedRows, alsoInBadLine, repeated] = [0, 0, 0, 0];
  const onColumns = (found: Headings) => {
    headings = found;
    desk.note(`Columns used: ${describeHeadings(found.used)}.`);
    if (found.unused.length > 0) desk.note(`Columns not imported: ${describeHeadings(found.unused)}.`);
  };
  for await (const row of readPeople(source, onColumns)) {
    rows += 1;
    if (rows % BATCH_SIZE === 0) desk.progress(`${rows} lines read …`);
    const { line } = row;
    if (row.type === 'bad') {
      badLines.push({ line, reason: row.reason });
      for (const email of row.emails) inBadLines.add(email);
    } else if (row.type === 'unsubscribed') {
      excludedEmails.add(row.email);
      excluding.push({ status: row.status, refusal: row.refusal });
    } else {
      all.push(row.person);
      if (isGarbled(row.person)) garbledLines.push(line);
      droppedAnswers.push(...row.droppedAnswers.map((answer) => ({ ...answer, line })));
    }
  }
  const people = new Map<string, FoundPerson>();
  for (const person of all) {
    if (excludedEmails.has(person.email)) excludedRows += 1;
    else if (inBadLines.has(person.email)) alsoInBadLine += 1;
    else if (people.has(person.email)) repeated += 1;
    else people.set(person.email, person);
  }
  return {
    people: [...people.values()],
    report: {
      rows,
      repeated,
      unsubscribed: excluding.length + excludedRows,
      statusesLeftOut: countByKey(excluding, ({ status }) => headingKey(status)).toSorted(
        (one, other) => other.count - one.count,
      ),
      alsoInBadLine,
      badLines,
      answersLeftOut: countByKey(droppedAnswers, ({ id, reason }) => `${id} ${reason}`),
      garbled: { count: garbledLines.length, line: garbledLines[0] ?? 0 },
      columnsUsed: headings.used,
      columnsNotUsed: headings.unused,
    },
  };
}

/** Returns the first thing with each key, and how many have the key. */
const countByKey = <Thing extends object>(
  things: readonly Thing[],
  keyOf: (thing: Thing) => string,
): readonly (Thing & { readonly count: number })[] =>
  Array.from(Map.groupBy(things, keyOf).values(), (group) => ({ ...group[0]!, count: group.length }));

function noteBadLines(desk: Desk, badLines: readonly BadLine[]): void {
  for (const { line, reason } of badLines.slice(0, BAD_LINES_SHOWN)) desk.note(`Line ${line} ${reason}.`);
  const more = badLines.length - BAD_LINES_SHOWN;
  if (more > 0) desk.note(`… and ${more} more.`);
}

function noteOutcome(
  desk: Desk,
  { file, dryRun, outcome }: { file: string; dryRun: boolean; outcome: Outcome },
): void {
  const { imported, alreadyImported, verified, erased, suppressed } = outcome;
  const { repeated, unsubscribed, badLines, alsoInBadLine, statusesLeftOut } = outcome;
  const people = (count: number) => counted(count, 'person', 'people');
  noteBadLines(desk, badLines);
  desk.note(
    dryRun
      ? `${people(imported)} would be imported from ${file}. Nothing was changed.`
      : `${people(imported)} imported from ${file}, marked as not verified here.`,
  );
  for (const [count, label] of [
    [alreadyImported, 'already imported, left unchanged'],
    [verified, 'already verified as a lead, left unchanged'],
    [erased, 'erased earlier, not restored'],
    [suppressed, 'suppressed here, left out'],
    [unsubscribed, 'with a status that does not show consent, left out'],
    [repeated, 'repeated in the file, imported once'],
    [badLines.length, 'in a bad line, left out'],
    [alsoInBadLine, 'also in a bad line, left out'],
  ] as const)
    if (count > 0) desk.note(`  ${String(count).padStart(String(outcome.rows).length)}  ${label}`);
  if (outcome.withoutConsentTime > 0)
    desk.note(
      `The file contains no time of consent for ${outcome.withoutConsentTime} of ${people(imported)}. For them, only the source of consent is stored, so keep your previous tool's record of when they agreed.`,
    );
  if (statusesLeftOut.length > 0)
    desk.note(
      `Left out because of their status: ${describeStatuses(statusesLeftOut, ({ count }) => ` (${count})`)}.`,
    );
  const unclear = statusesLeftOut.filter(({ refusal }) => refusal === null);
  if (unclear.length > 0)
    desk.note(
      `Did people with ${describeStatuses(unclear)} agree to receive mail? To import them too, name each status that says so: --take-status ${describeStatuses(unclear.slice(0, 1))}.`,
    );
  const { garbled } = outcome;
  if (garbled.count > 0)
    desk.note(
      `Letters are garbled (such as Ã¼ for ü) in ${garbled.count === 1 ? `the name or company in line ${garbled.line}` : `${garbled.count} names or companies, the first in line ${garbled.line}`}. Export the file again as UTF-8, or fix the names with "correct".`,
    );
  for (const { label, reason, count, line } of outcome.answersLeftOut)
    desk.note(
      `${label}: ${reason}. ${count === 1 ? `The answer in line ${line} was` : `${count} answers, the first in line ${line}, were`} left out.`,
    );
}

const describeStatuses = (
  statuses: readonly CountedStatus[],
  suffix: (status: CountedStatus) => string = () => '',
): string =>
  listedUpTo(
    STATUSES_SHOWN,
    statuses.map((one) => `"${printable(one.status).slice(0, STATUS_MAX_LENGTH)}"${suffix(one)}`),
  );
