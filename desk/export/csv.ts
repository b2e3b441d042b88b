// CSV as in RFC 4180. Text that a spreadsheet would take for a formula gets an apostrophe.
import { stringify } from 'csv-stringify/sync';

/** A text, or a figure such as a telephone number. */
export type Cell = string | { readonly figure: string };

/** Calls no function and names no cell: an apostrophe would only damage it. */
const HARMLESS = /^[+-]?[\d ()-]+(?:\.\d+)?$/;

/** Makes lines of rows. */
export const csv = (rows: readonly (readonly Cell[])[]): string =>
  stringify(rows as Cell[][], {
    record_delimiter: 'windows',
    escape_formulas: true,
    cast: {
      object: (cell) => {
        const { figure } = cell as Exclude<Cell, string>;
        return { value: figure, escape_formulas: !HARMLESS.test(figure) };
      },
    },
  });

/** What stood in a cell before an apostrophe was put in front of it. */
export const withoutApostrophe = (text: string): string =>
  text.replace(/^'(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/, '');
