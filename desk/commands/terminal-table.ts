import { printable } from '#desk/printable.ts';
import type { Desk } from '#desk/commands/command.ts';

export const tableLine = (cells: readonly string[], widths: readonly number[]): string =>
  `${cells
    .map((cell, index) => printable(cell).padEnd(widths[index] ?? 0))
    .join('  ')
    .trimEnd()}\n`;

export const headingLine = (
  { paint }: Pick<Desk, 'paint'>,
  cells: readonly string[],
  widths: readonly number[],
): string => `${paint('bold', tableLine(cells, widths).trimEnd())}\n`;
