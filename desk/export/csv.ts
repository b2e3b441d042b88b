// CSV as in RFC 4180. Text that a spreadsheet would take for a formula gets an apostrophe.

/** A text, or a figure such as a telephone number. */
export type Cell = string | { readonly figure: string };

/** Begins what a spreadsheet takes for a formula. The last four are =, +, - and @ of full width (U+FF1D, U+FF0B, U+FF0D, U+FF20). */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;
/** A figure that calls no function and names no cell: an apostrophe would only damage it. */
const HARMLESS = /^[+-]?[\d ()-]+(?:\.\d+)?$/;
/** Stands in quotes. */
const QUOTED = /[",\r\n]/;

/** Makes a line of cells. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(written).join(',')}\r\n`;

function written(cell: Cell): string {
  if (cell === '') return cell;
  const text = typeof cell === 'string' ? cell : cell.figure;
  const isHarmless = !FORMULA.test(text) || (text !== cell && HARMLESS.test(text));
  const safe = isHarmless ? text : `'${text}`;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** What stood in a cell before an apostrophe was put in front of it. */
export const withoutApostrophe = (text: string): string =>
  text.replace(/^'(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/, '');
