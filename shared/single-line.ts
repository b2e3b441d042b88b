// What counts as one line of plain text. Everything a visitor types passes through here before it is stored.

// C0 and C1 controls (CR and LF among them), line and paragraph separators, and the bidirectional overrides that
// can make a name read differently from what it is (Unicode TR 36), and lone surrogates (\p{Cs}: isWellFormed() is younger
// than the browsers of build/browsers.ts). Joiners stay: names and emoji need them.
const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Whether a text is a single well-formed line: no control characters, no line breaks, no bidirectional
 * overrides, no lone surrogates.
 */
export const isSingleLine = (text: string): boolean => text.search(FORBIDDEN) < 0;

/** A text without what no single line has. */
export const singleLine = (text: string): string => text.replace(FORBIDDEN, '');

/**
 * A typed or pasted text without what other programs put around and into it: the marks of direction that a phone or an address book
 * wraps a name in, the tab between two cells, the line break of Word.
 */
export const tidyLine = (text: string): string =>
  text
    .replace(/[\u202A-\u202D\u2066-\u2069]/g, '')
    .replace(/[\t\v]/g, ' ')
    .trim();

/** How many characters of a text can be seen. Fillers and the blank of Braille look like nothing, though Unicode calls them letters. */
export const visibleLength = (text: string): number =>
  text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu, '').trim().length;
