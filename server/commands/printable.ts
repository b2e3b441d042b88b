/** Text that somebody typed, fit for a terminal: it must not move the cursor of whoever reads it. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '\uFFFD');
