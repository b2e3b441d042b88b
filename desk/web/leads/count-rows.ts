// Counts the people of a file while it arrives, without reading it.

const LINE_END = 10;
const QUOTE = 34;

/**
 * Counts in chunks, at whatever place they are cut.
 * @param isCsv whether the first line is a heading, and a line break within quotes ends no row
 * @returns takes a chunk, and returns the number of people so far
 */
export function rowCounter(isCsv: boolean): (chunk: Uint8Array) => number {
  let rows = isCsv ? -1 : 0;
  let isQuoted = false;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === LINE_END && !isQuoted) rows += 1;
      else if (isCsv && byte === QUOTE) isQuoted = !isQuoted;
    }
    return Math.max(0, rows);
  };
}
