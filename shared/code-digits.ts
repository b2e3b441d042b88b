// In its own file, because the page's first script does not need it.
import { CODE_LENGTH } from '#shared/lengths-and-resend.ts';

const DIGITS = /\p{Nd}/gu;

export const isDigit = (key: string): boolean => /^\p{Nd}$/u.test(key);

/** Converts a digit of any script. Unicode numbers the ten digits of each script consecutively. */
export function asciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0) ?? 0;
  let first = codePoint;
  while (isDigit(String.fromCodePoint(first - 1))) first -= 1;
  return String((codePoint - first) % 10);
}

/**
 * Returns six digits in a row, or two groups of three as people copy them from a mail; otherwise all digits, at most six.
 * Ignores characters that only decompose into digits, such as "½" and "²".
 */
export function codeDigits(text: string): string {
  const plain = text.replace(DIGITS, asciiDigit);
  const [, first, second] = /(?<!\d)(\d{3})[\s\p{Pd}]?(\d{3})(?!\d)/u.exec(plain) ?? [];
  return first !== undefined && second !== undefined
    ? first + second
    : plain.replace(/\D/g, '').slice(0, CODE_LENGTH);
}
