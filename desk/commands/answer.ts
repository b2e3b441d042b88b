import type { Desk } from '#desk/commands/command.ts';
import { printable } from '#desk/printable.ts';

export const jsonText = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;

/** Prints page by page, so memory use stays constant. */
export async function printList<Row>(
  desk: Pick<Desk, 'print' | 'paint'>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  {
    json,
    headings,
    widths,
    cells,
  }: {
    readonly json: boolean;
    readonly headings: readonly string[];
    readonly widths: readonly number[];
    readonly cells: (row: Row) => readonly string[];
  },
): Promise<number> {
  let count = 0;
  await desk.print(json ? '[' : `${desk.paint('bold', tableLine(headings, widths).trimEnd())}\n`);
  for await (const rows of pages) {
    const lines = rows.map((row, at) =>
      json ? `${count + at === 0 ? '' : ','}\n${JSON.stringify(row)}` : tableLine(cells(row), widths),
    );
    count += rows.length;
    await desk.print(lines.join(''));
  }
  if (json) await desk.print('\n]\n');
  return count;
}

const tableLine = (cells: readonly string[], widths: readonly number[]): string =>
  `${cells
    .map((cell, index) => printable(cell).padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()}\n`;
