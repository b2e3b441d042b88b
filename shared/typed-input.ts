// What people type: its lengths (specification, section 9), and how it is tidied and checked. Limits of the server are in
// server/settings/fixed-limits.ts.

export const CODE_LENGTH = 6;
export const NAME_MIN_LENGTH = 2;
export const NAME_MAX_LENGTH = 200;
/** RFC 5321, section 4.5.3.1.3: a path of 256 octets, less its two angle brackets. */
export const EMAIL_MAX_LENGTH = 254;
/** RFC 5321, sections 4.5.3.1.1 and 4.5.3.1.2, and RFC 1035, section 2.3.4. Octets of UTF-8. */
export const EMAIL_LOCAL_PART_MAX_OCTETS = 64;
export const DOMAIN_MAX_OCTETS = 255;
export const DOMAIN_LABEL_MAX_OCTETS = 63;
export const RESEND_COUNTDOWN_SECONDS = 60;

/** Default maximum length of an answer to a custom question, in characters. */
const ANSWER_MAX_LENGTH = { text: 200, telephone: 40, number: 15, url: 300, 'long text': 1000 } as const;

export const longestAnswer = ({
  kind,
  maxLength,
  options = [],
}: {
  readonly kind: keyof typeof ANSWER_MAX_LENGTH | 'choice' | 'choices';
  readonly maxLength?: number | undefined;
  readonly options?: readonly string[] | undefined;
}): number => {
  if (kind === 'choice') return Math.max(0, ...options.map((option) => option.length));
  return kind === 'choices' ? options.join('; ').length : (maxLength ?? ANSWER_MAX_LENGTH[kind]);
};

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

/** Invisible marks in text from Teams, Word, PDFs and address books. */
const INVISIBLE = /[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202D\u2060-\u2064\u2066-\u2069\uFEFF]/g;
const JOINERS = /[\u200C\u200D]/g;
const ASCII_WITH_JOINERS = /^[\x20-\x7E\u200C\u200D]*$/;
/** Full-width `!` to `~` of Japanese and Chinese keyboards, each 0xFEE0 above its ASCII form. */
const FULL_WIDTH = /[\uFF01-\uFF5E]/g;
const LONGEST = 1_000;

/**
 * Removes invisible marks, `mailto:`, a mail program's name and brackets, and punctuation after the address. The result
 * may still be invalid.
 */
export function tidyEmail(typed: string): string {
  if (typed.length > LONGEST) return typed;
  let text = typed
    .replace(INVISIBLE, '')
    .replace(FULL_WIDTH, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
    .replace(/[\u2018\u2019]/g, "'");
  if (ASCII_WITH_JOINERS.test(text)) text = text.replace(JOINERS, '');
  // Ada Lovelace <ada@example.com>
  text = /<([^<>]+)>[^<>]*$/.exec(text)?.[1] ?? text;
  return text.replace(/^\s*mailto:([^?]*).*/i, '$1').replace(/^[\s<"]+|[\s>";,.\u3002]+$/g, '');
}

/** Unquoted local part (RFC 5321, section 4.1.2, Dot-string), as the inside of a character class. */
const ATEXT = "\\w!#$%&'*+/=?^`{|}~-";
export const LOCAL_PART = `[${ATEXT}]+(?:\\.[${ATEXT}]+)*`;
/** Characters of a typed domain: letters and full stops of every script. */
export const IN_DOMAIN = '\\p{L}\\p{M}\\p{Nd}\\u200C-\\u200D.\\u3002\\uFF0E\\uFF61-';

const STRAY_BEFORE_AT = new RegExp(`[^.@${ATEXT}]`, 'u');
const STRAY_IN_DOMAIN = new RegExp(`[^${IN_DOMAIN}]`, 'u');

/** Returns the first character that an e-mail address cannot have there; null without one. */
export function strayCharacter(typed: string): string | null {
  const text = tidyEmail(typed);
  const at = text.lastIndexOf('@');
  if (at < 0) return null;
  const found = STRAY_BEFORE_AT.exec(text.slice(0, at)) ?? STRAY_IN_DOMAIN.exec(text.slice(at + 1));
  return found?.[0] ?? null;
}
