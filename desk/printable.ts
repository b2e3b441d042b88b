/**
 * Replaces control characters in untrusted text, because they could move the cursor or hide text. Keeps joiners, because names and emoji
 * need them.
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
