// Text for a terminal.
import type { Desk } from '#server/commands/desk.ts';

/** Text that somebody typed: it must not move the cursor of whoever reads it. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '\uFFFD');

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

/** 2026-11-21 09:30 of a time in ISO 8601. */
export const minuteOf = (iso: string): string => iso.slice(0, 16).replace('T', ' ');
