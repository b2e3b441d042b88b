// How an address names one of several pages that are compared. Nothing here names a visitor.

/**
 * The variant that an address asks for: `variant=b` to look at it, `kept-variant=b` because this browser was given it earlier.
 * @param url or its query
 * @returns null when it asks for none
 */
export const variantAskedFor = (url: string): string | null =>
  /[?&](?:kept-)?variant=([\w-]{0,40})/.exec(url)?.[1] ?? null;
