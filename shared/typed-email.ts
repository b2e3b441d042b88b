// How people type and paste an e-mail address, and what of that is no part of it.

/** Marks that nobody sees. They come along from Teams, Word, PDFs and address books. */
const INVISIBLE = /[\u00AD\u061C\u200B\u200E\u200F\u202A-\u202D\u2060-\u2064\u2066-\u2069\uFEFF]/g;
/** Hidden between Latin letters; other scripts spell with them. */
const JOINERS = /[\u200C\u200D]/g;
const ASCII_WITH_JOINERS = /^[\x20-\x7E\u200C\u200D]*$/;
/** `!` to `~` as a Japanese or Chinese keyboard types them, each 0xFEE0 further on. */
const FULL_WIDTH = /[\uFF01-\uFF5E]/g;
/** What is longer is no address with a name beside it. */
const LONGEST = 1_000;

/**
 * The address in what was typed or pasted: without invisible marks, `mailto:`, the name and the brackets of a mail program, and the
 * sign that follows it in a list or a sentence.
 * @returns what is left, which may still be no address
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

/** A local part without quotes (RFC 5321, section 4.1.2: Dot-string), as the inside of a character class. */
const ATEXT = "\\w!#$%&'*+/=?^`{|}~-";
/** What a mail server takes before the `@`. */
export const LOCAL_PART = `[${ATEXT}]+(?:\\.[${ATEXT}]+)*`;
/** The characters of a typed domain: letters of every script, and the full stops of other scripts. */
export const IN_DOMAIN = '\\p{L}\\p{M}\\p{Nd}\\u200C-\\u200D.\\u3002\\uFF0E\\uFF61-';

const STRAY_BEFORE_AT = new RegExp(`[^.@${ATEXT}]`, 'u');
const STRAY_IN_DOMAIN = new RegExp(`[^${IN_DOMAIN}]`, 'u');

/** The first character of a text that no e-mail address has in that place; null without one. */
export function strayCharacter(typed: string): string | null {
  const text = tidyEmail(typed);
  const at = text.lastIndexOf('@');
  if (at < 0) return null;
  const found = STRAY_BEFORE_AT.exec(text.slice(0, at)) ?? STRAY_IN_DOMAIN.exec(text.slice(at + 1));
  return found?.[0] ?? null;
}
