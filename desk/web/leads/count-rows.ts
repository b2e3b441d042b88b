const LINE_END = 10;
const QUOTE = 34;

/**
 * Chunks may be cut anywhere.
 * @param isCsv skips the heading, and ignores line breaks in quotes
 * @returns takes a chunk, and returns the total so far
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
