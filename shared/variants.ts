// How a URL requests one variant of the page. Nothing here identifies a visitor.

/** `variant=b` previews a variant; `kept-variant=b` requests the one that this browser was given before. */
export const variantAskedFor = (url: string): string | null =>
  /[?&](?:kept-)?variant=([\w-]{0,40})/.exec(url)?.[1] ?? null;
