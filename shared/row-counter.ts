const LINE_END = 10;
const QUOTE = 34;

/**
 * Counts rows in chunks of CSV or JSON Lines, which may begin and end anywhere.
 * @param headRows in CSV, the rows before the first person; 0 for JSON Lines, where quotes do not span lines
 */
export function rowCounter(headRows: number): (chunk: Uint8Array) => number {
  let rows = -headRows;
  let isQuoted = false;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === LINE_END && !isQuoted) rows += 1;
      else if (headRows > 0 && byte === QUOTE) isQuoted = !isQuoted;
    }
    return Math.max(0, rows);
  };
}
