// CSV as RFC 4180 has it, in UTF-8; what a spreadsheet would take for a formula gets an apostrophe.
import { stringify } from 'csv-stringify/sync';

/** Makes lines of rows. */
export const csv = (rows: readonly (readonly string[])[]): string =>
  stringify(rows as string[][], { record_delimiter: 'windows', escape_formulas: true });
