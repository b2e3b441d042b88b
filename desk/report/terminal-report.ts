// The report in a terminal: plain tables, and bars of block characters.
import type { Report } from '#desk/report/report.ts';
import { keyFigures, notes, spanInWords } from '#desk/report/sentences.ts';
import { sectionsOf, type Section } from '#desk/report/sections.ts';
import { textBar } from '#server/platform/text-bar.ts';

/** @returns lines, each with a line end */
export function reportAsText(report: Report): string {
  const figures = keyFigures(report);
  const width = Math.max(...figures.map(({ name }) => name.length));
  const valueWidth = Math.max(...figures.map(({ value }) => value.length));
  return [
    `${report.title}: ${spanInWords(report.period)}`,
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

function sectionAsText({ title, sentence, columns, rows, bars }: Section): string[] {
  const heading = ['', title.toUpperCase(), sentence];
  if (rows.length === 0) return heading;
  const widths = columns.map((column, at) =>
    Math.max(width(column), ...rows.map((row) => width(row[at] ?? ''))),
  );
  const line = (cells: readonly string[], end: string) =>
    `  ${cells.map((cell, at) => pad(cell, widths[at] ?? 0, at > 0)).join('  ')}  ${end}`.trimEnd();
  const longest = Math.max(1, ...bars.map(({ value }) => value));
  return [
    ...heading,
    line(columns, ''),
    ...rows.map((row, at) => line(row, textBar((bars[at]?.value ?? 0) / longest))),
  ];
}

/** Columns of a terminal, nearly: characters and not code units. */
const width = (text: string): number => Array.from(text).length;

const pad = (text: string, to: number, isRight: boolean): string => {
  const space = ' '.repeat(Math.max(0, to - width(text)));
  return isRight ? space + text : text + space;
};
