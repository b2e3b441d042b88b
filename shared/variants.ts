// How a page that is compared with others is named in addresses, and where a browser keeps which one it was given. Nothing here names a
// visitor: everyone who was given a variant keeps the same few letters.

/** In an address: the variant to be looked at. Such a view is counted nowhere. */
export const PREVIEW_PARAMETER = 'variant';
/** In an address, for a moment: the variant that this browser was given earlier. */
export const KEPT_PARAMETER = 'kept-variant';

/** The variant that an address asks for, in one way or the other; null when it does not. @param url or its query */
export const variantAskedFor = (url: string): string | null =>
  /[?&](?:kept-)?variant=([\w-]{0,40})/.exec(url)?.[1] ?? null;
