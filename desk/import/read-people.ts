import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';

import { CommandFailure } from '#desk/command-failure.ts';
import { listedUpTo, printable } from '#desk/printable.ts';
import { findColumns, type Columns, type Headings } from '#desk/import/find-columns.ts';
import { statusOfFile } from '#desk/import/mail-status.ts';
import { readPerson, type ReadOptions, type ReadPerson } from '#desk/import/read-person.ts';
import { readRows } from '#desk/import/read-rows.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import { headingKey } from '#shared/import-headings.ts';
import { asciiAddress } from '#shared/lead.ts';

export type PeopleFile = ReadOptions & {
  readonly file: string;
  readonly handle: FileHandle;
  readonly signal: AbortSignal;
};

type ReadRow = ReadPerson & { readonly line: number };

export async function* readPeople(
  { file, handle, signal, ...options }: PeopleFile,
  onColumns: (headings: Headings) => void,
): AsyncGenerator<ReadRow, void, void> {
  const status = statusOfFile(path.basename(file));
  const isAccepted = status !== null && options.acceptedStatuses.has(headingKey(status.status));
  for await (const { line, cells, columns } of readTable(file, handle, options.ownFields, onColumns)) {
    signal.throwIfAborted();
    const row = readPerson(cells, columns, options);
    if (row.type !== 'person' || status === null || isAccepted) yield { line, ...row };
    else yield { line, type: 'unsubscribed', email: row.person.email, ...status };
  }
}

type TableRow = {
  readonly line: number;
  readonly cells: readonly string[];
  readonly headings: readonly string[];
  readonly columns: Columns;
};

/** Yields the rows below the headings. @throws {CommandFailure} without a column of e-mail addresses */
export async function* readTable(
  file: string,
  handle: FileHandle,
  ownFields: readonly OwnField[] = [],
  onColumns: (headings: Headings) => void = () => {},
): AsyncGenerator<TableRow, void, void> {
  let table: Pick<TableRow, 'headings' | 'columns'> | undefined;
  for await (const { line, cells } of readRows(file, handle)) {
    if (table !== undefined) {
      const { count } = table.columns;
      // Some programs only end lines with a separator more.
      const hasSurplus = cells.slice(count).some((text) => text !== '');
      yield { line, cells: hasSurplus ? cells : cells.slice(0, count), ...table };
      continue;
    }
    const found = findColumns(cells, ownFields);
    if (found === null)
      throw new CommandFailure(
        // The cell is not quoted, because it may contain someone's e-mail address.
        cells.some((cell) => asciiAddress(cell) !== null)
          ? `${file} has no headings, because its first line contains an e-mail address. Add a first line that names the columns, such as: email,name,company`
          : `${file} has no column of e-mail addresses. The headings in its first line are ${describeHeadings(cells)}. Name the column with the addresses "email".`,
      );
    table = { headings: cells, columns: found.columns };
    onColumns(found);
  }
  if (table === undefined)
    throw new CommandFailure(`${file} is empty. Name the CSV file that your previous tool exported.`);
}

const HEADINGS_SHOWN = 40;

export const describeHeadings = (headings: readonly string[]): string =>
  listedUpTo(
    HEADINGS_SHOWN,
    headings.map((heading) => `"${printable(heading)}"`),
  );
