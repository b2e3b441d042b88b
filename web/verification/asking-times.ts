/** Milliseconds after the request for the code. Most mail leaves within a second, delayed mail within minutes. */
const ASK_AFTER_MS = [3_000, 8_000, 20_000, 45_000, 90_000, 180_000];

/**
 * The first time after the last query, so that missed times lead to one query. Null after the last one. Takes and
 * returns milliseconds since 1970; before the first query, `lastAskAt` is the time of the code request.
 */
export function nextAskAt(askedForCodeAt: number, lastAskAt: number): number | null {
  const after = ASK_AFTER_MS.find((ms) => askedForCodeAt + ms > lastAskAt);
  return after === undefined ? null : askedForCodeAt + after;
}
