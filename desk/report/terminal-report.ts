import { padToWidth, terminalWidth } from '#desk/printable.ts';
import type { Report } from '#desk/report/report.ts';
import { keyFigures, notes, scopeInWords } from '#desk/report/sentences.ts';
import { sectionsOf, type Section } from '#desk/report/sections.ts';

export function reportAsText(report: Report): string {
  const figures = keyFigures(report);
  const width = Math.max(...figures.map(({ name }) => name.length));
  const valueWidth = Math.max(...figures.map(({ value }) => value.length));
  return [
    `${report.title}: ${scopeInWords(report)}`,
    '',
    ...figures.map(({ name, value, change }) =>
      `  ${name.padEnd(width)}  ${value.padStart(valueWidth)}  ${change}`.trimEnd(),
    ),
    ...sectionsOf(report).flatMap(sectionAsText),
    '',
    ...notes(report),
    '',
  ].join('\n');
}

function sectionAsText({ title, sentence, columns, groups }: Section): string[] {
  const heading = ['', title.toUpperCase(), sentence];
  const rows = groups.flatMap((group) => group.rows.map(({ cells }) => cells));
  if (rows.length === 0) return heading;
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...rows.map((row) => terminalWidth(row[at] ?? ''))),
  );
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, at) => padCell(cell, widths[at] ?? 0, at > 0)).join('  ')}`.trimEnd();
  return [...heading, line(columns), ...rows.map(line)];
}

const padCell = (text: string, to: number, alignRight: boolean): string =>
  alignRight ? text.padStart(to) : padToWidth(text, to);
