// Makes text that strangers typed safe for a terminal.

/** Replaces control characters in text that strangers typed: they could move the cursor, or hide text. Joiners stay: names and emoji need them. */
export const printable = (text: string): string => text.replaceAll(/[\p{C}--[\u200C\u200D]]/gv, '\uFFFD');

/** The same for several lines. A line that quotes a stranger goes through {@link printable}, so that it stays one. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** Replaces DEL and the C1 controls, which JSON and CSV do not escape: some terminals take them for the beginning of a command. */
export const withoutC1 = (data: string): string => data.replaceAll(/[\u007F-\u009F]/g, '\uFFFD');
