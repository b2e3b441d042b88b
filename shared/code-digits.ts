// The digits of a mailed code in what was typed, pasted, dropped or dictated, in any script.
import { CODE_LENGTH } from '#shared/lengths-and-resend-seconds.ts';

const DIGIT = /\p{Nd}/u;
const DIGITS = /\p{Nd}/gu;

/** Whether a key types a digit, in any script. */
export const isDigit = (key: string): boolean => /^\p{Nd}$/u.test(key);

/**
 * 0 to 9 for a decimal digit of any script: Arabic-Indic, Devanagari, full width ... Unicode keeps each script's ten in a
 * row from zero on, and where rows touch they are whole, so the place in the row is the value.
 */
function asciiDigit(digit: string): string {
  const own = digit.codePointAt(0) ?? 0;
  let before = own;
  while (DIGIT.test(String.fromCodePoint(before - 1))) before -= 1;
  return String((own - before) % 10);
}

/**
 * The code in a text: six digits in a row, or two groups of three, as people copy them out of an e-mail; otherwise
 * all digits there are. Signs that only decompose into digits, such as "½" and "²", are none.
 * @returns at most six digits, as 0 to 9
 */
export function codeDigits(text: string): string {
  const plain = text.replace(DIGITS, asciiDigit);
  const [, first, second] = /(?<!\d)(\d{3})[\s\p{Pd}]?(\d{3})(?!\d)/u.exec(plain) ?? [];
  return first !== undefined && second !== undefined
    ? first + second
    : plain.replace(/\D/g, '').slice(0, CODE_LENGTH);
}
