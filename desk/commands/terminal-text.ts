// Text for a terminal.
import type { Desk } from '#desk/commands/command.ts';

/** Text that somebody typed: it must not move the cursor of whoever reads it. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '\uFFFD');

/** The same for several lines. A line that quotes a stranger goes through {@link printable}, so that it stays one. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** What JSON and CSV leave as it is, and some terminals take for the beginning of a command: DEL and the C1 controls. */
export const withoutC1 = (data: string): string => data.replaceAll(/[\u007F-\u009F]/g, '\uFFFD');

/**
 * A line of a table.
 * @param widths of all columns but the last; a longer cell pushes the rest of its line aside
 */
export const tableLine = (cells: readonly string[], widths: readonly number[]): string =>
  `${cells
    .map((cell, index) => printable(cell).padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()}\n`;

/** The headings of a table. */
export const headingLine = (
  { paint }: Pick<Desk, 'paint'>,
  cells: readonly string[],
  widths: readonly number[],
): string => `${paint('bold', tableLine(cells, widths).trimEnd())}\n`;
