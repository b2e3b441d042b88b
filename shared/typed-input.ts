// Control characters, line separators and bidirectional overrides, which can disguise a name (Unicode TR 36). \p{Cs} matches
// lone surrogates, because isWellFormed() is too new for build/browsers.ts. Joiners are allowed, because names and emoji need
// them.
const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

export const isSingleLine = (text: string): boolean => text.search(FORBIDDEN) < 0;

export const singleLine = (text: string): string => text.replace(FORBIDDEN, '');

/**
 * Removes characters that programs add to copied text: direction marks from phones and address books, tabs from spreadsheets,
 * line breaks from Word.
 */
export const tidyText = (text: string): string =>
  text
    .replace(/[\u202A-\u202D\u2066-\u2069]/g, '')
    .replace(/[\t\v]/g, ' ')
    .trim();

/** Counts visible characters. Unicode classifies fillers and the Braille blank as letters, though they look empty. */
export const visibleLength = (text: string): number =>
  text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu, '').trim().length;

/** Invisible characters in text copied from Teams, Word, PDFs and address books. */
const INVISIBLE = /[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202D\u2060-\u2064\u2066-\u2069\uFEFF]/g;
const JOINERS = /[\u200C\u200D]/g;
const ASCII_WITH_JOINERS = /^[\x20-\x7E\u200C\u200D]*$/;

/** Converts full-width `！` to `～`, as typed on Japanese and Chinese keyboards, each 0xFEE0 above its ASCII form. */
export const halfWidth = (text: string): string =>
  text.replace(/[\uFF01-\uFF5E]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0));
const MAX_LENGTH = 1_000;

/**
 * Removes invisible marks, `mailto:`, the name and brackets that mail programs add, and punctuation at the end. The result may
 * still be invalid.
 */
export function tidyEmail(typed: string): string {
  if (typed.length > MAX_LENGTH) return typed;
  let text = halfWidth(typed.replace(INVISIBLE, '')).replace(/[\u2018\u2019]/g, "'");
  if (ASCII_WITH_JOINERS.test(text)) text = text.replace(JOINERS, '');
  text = /<([^<>]+)>[^<>]*$/.exec(text)?.[1] ?? text;
  return text.replace(/^\s*mailto:([^?]*).*/i, '$1').replace(/^[\s<"]+|[\s>";,.\u3002]+$/g, '');
}

/** Characters of an unquoted local part (RFC 5321, section 4.1.2, Dot-string), for use in a character class. */
const ATEXT = "\\w!#$%&'*+/=?^`{|}~-";
export const LOCAL_PART = `[${ATEXT}]+(?:\\.[${ATEXT}]+)*`;
/** Letters and full stops of every script. */
export const IN_DOMAIN = '\\p{L}\\p{M}\\p{Nd}\\u200C-\\u200D.\\u3002\\uFF0E\\uFF61-';

const STRAY_BEFORE_AT = new RegExp(`[^.@${ATEXT}]`, 'u');
const STRAY_IN_DOMAIN = new RegExp(`[^${IN_DOMAIN}]`, 'u');

/** Returns the first character that an e-mail address cannot contain at its position, or null. */
export function strayCharacter(typed: string): string | null {
  const text = tidyEmail(typed);
  const at = text.lastIndexOf('@');
  if (at < 0) return null;
  const found = STRAY_BEFORE_AT.exec(text.slice(0, at)) ?? STRAY_IN_DOMAIN.exec(text.slice(at + 1));
  return found?.[0] ?? null;
}
