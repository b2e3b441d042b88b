// Everything a visitor types is checked here before it is stored.

// Control characters, line separators and bidirectional overrides, which can disguise a name (Unicode TR 36). Lone
// surrogates by \p{Cs}, because isWellFormed() is too new for build/browsers.ts. Joiners stay: names and emoji need
// them.
const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

export const isSingleLine = (text: string): boolean => text.search(FORBIDDEN) < 0;

export const singleLine = (text: string): string => text.replace(FORBIDDEN, '');

/**
 * Removes what other programs add to copied text: direction marks of phones and address books, tabs of spreadsheets,
 * line breaks of Word.
 */
export const tidyLine = (text: string): string =>
  text
    .replace(/[\u202A-\u202D\u2066-\u2069]/g, '')
    .replace(/[\t\v]/g, ' ')
    .trim();

/** Number of visible characters. Unicode counts fillers and the Braille blank as letters, though they look empty. */
export const visibleLength = (text: string): number =>
  text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu, '').trim().length;
