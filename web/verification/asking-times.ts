/** Milliseconds after the request for the code. Most mail leaves within a second, delayed mail within minutes. */
const ASK_AFTER_MS = [3_000, 8_000, 20_000, 45_000, 90_000, 180_000];

/**
 * Returns the first time after the last query, so missed times lead to only one query; null after the last one. All times are milliseconds
 * since 1970. Before the first query, `lastAskAt` is `askedForCodeAt`.
 */
export function nextAskAt(askedForCodeAt: number, lastAskAt: number): number | null {
  const after = ASK_AFTER_MS.find((ms) => askedForCodeAt + ms > lastAskAt);
  return after === undefined ? null : askedForCodeAt + after;
}
