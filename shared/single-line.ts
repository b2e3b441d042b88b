// What counts as one line of plain text. Everything a visitor types passes through here before it is stored.

// C0 and C1 controls (CR and LF among them), line and paragraph separators, and the bidirectional overrides that
// can make a name read differently from what it is (Unicode TR 36), and lone surrogates (\p{Cs}: isWellFormed() is younger
// than the browsers of build/browsers.ts). Joiners stay: names and emoji need them.
const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/**
 * Whether a text is a single well-formed line: no control characters, no line breaks, no bidirectional
 * overrides, no lone surrogates.
 */
export function isSingleLine(text: string): boolean {
  return !FORBIDDEN.test(text);
}
