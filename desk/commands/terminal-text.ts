// Text for a terminal.
import type { Desk } from '#desk/commands/command.ts';

/** Replaces control characters in text that strangers typed: they could move the cursor, or hide text. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '\uFFFD');

/** The same for several lines. A line that quotes a stranger goes through {@link printable}, so that it stays one. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** Replaces DEL and the C1 controls, which JSON and CSV do not escape: some terminals take them for the beginning of a command. */
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
