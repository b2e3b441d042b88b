import type { Desk } from '#desk/commands/command.ts';
import { padToWidth, printable } from '#desk/printable.ts';

export const jsonText = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;

/** The last column has the width 0. */
export type ListColumn<Row> = readonly [heading: string, width: number, cell: (row: Row) => string];

/** Prints page by page, so memory use stays constant. */
export async function printList<Row>(
  desk: Pick<Desk, 'print' | 'paint'>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { json, columns }: { readonly json?: true | undefined; readonly columns: readonly ListColumn<Row>[] },
): Promise<number> {
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => padToWidth(printable(cell), columns[at]?.[1] ?? 0))
      .join('  ')
      .trimEnd();
  const headings = line(columns.map(([heading]) => heading));
  let count = 0;
  await desk.print(json ? '[' : `${desk.paint('bold', headings)}\n`);
  for await (const rows of pages) {
    const lines = rows.map((row, at) =>
      json
        ? `${count + at === 0 ? '' : ','}\n${JSON.stringify(row)}`
        : `${line(columns.map(([, , cell]) => cell(row)))}\n`,
    );
    count += rows.length;
    await desk.print(lines.join(''));
  }
  if (json) await desk.print('\n]\n');
  return count;
}
