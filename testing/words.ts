/** The words of a text, for lists of short values. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/);
