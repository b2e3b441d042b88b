/**
 * Replaces control characters in untrusted text, because they could move the cursor or hide text. Keeps joiners, because names and
 * emoji need them.
 */
export const printable = (text: string): string => text.replaceAll(/[\p{C}--[\u200C\u200D]]/gv, '\uFFFD');

/** Like {@link printable}, for several lines; quoted input must pass {@link printable} first. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** Replaces DEL and C1 controls, which JSON and CSV leave unescaped and some terminals execute. */
export const withoutC1 = (data: string): string => data.replaceAll(/[\u007F-\u009F]/g, '\uFFFD');

export const listedUpTo = (most: number, names: readonly string[]): string =>
  `${names.slice(0, most).join(', ')}${names.length > most ? ` and ${names.length - most} more` : ''}`;

/** Such as "1 lead" or "2 leads". */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** East Asian letters and emoji take two columns of a terminal; combining marks and joiners take none. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6B\uFF01-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]/gu;
const NO_WIDTH = /[\p{Mn}\p{Me}\u200C\u200D]/gu;

export const terminalWidth = (text: string): number =>
  Array.from(text.replaceAll(NO_WIDTH, '').replaceAll(WIDE, '  ')).length;

export const padToWidth = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - terminalWidth(text)));
