// When the code screen asks for the state of the mail: soon, then less and less often, then no more.

/** After the code was asked for. Mail usually leaves within a second; what a server puts off, it takes within minutes. */
const ASK_AFTER_MS = [3_000, 8_000, 20_000, 45_000, 90_000, 180_000];

/**
 * When to ask next: at the first of the times that came after the last ask, so what was missed meanwhile is one ask.
 * @param askedForCodeAt this and the rest in milliseconds since 1970
 * @param lastAskAt when it was asked last; the time of the request for the code before
 * @returns null when it was asked often enough
 */
export function nextAskAt(askedForCodeAt: number, lastAskAt: number): number | null {
  const after = ASK_AFTER_MS.find((ms) => askedForCodeAt + ms > lastAskAt);
  return after === undefined ? null : askedForCodeAt + after;
}
