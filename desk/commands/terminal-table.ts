// Tables for a terminal.
import { printable } from '#desk/printable.ts';
import type { Desk } from '#desk/commands/command.ts';

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
