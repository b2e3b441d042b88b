// CSV as in RFC 4180. Text that a spreadsheet would take for a formula gets an apostrophe.
import { stringify } from 'csv-stringify/sync';

/** Makes lines of rows. */
export const csv = (rows: readonly (readonly string[])[]): string =>
  stringify(rows as string[][], { record_delimiter: 'windows', escape_formulas: true });
