// How commands print what they found: as one JSON document, or as a table.
import type { Desk } from '#desk/commands/command.ts';
import { headingLine, tableLine } from '#desk/commands/terminal-table.ts';

/** Text of one JSON document. */
export const jsonText = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;

/**
 * Prints a list a page at a time, so that a long one needs no more memory than a short one.
 * @param list json: prints one array, a row of it on each line; else a table with these headings. cells: what stands in the table
 * @returns how many rows there were
 */
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
  await desk.print(json ? '[' : headingLine(desk, headings, widths));
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
