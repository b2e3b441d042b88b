/** Wraps each term of a quoted formula and the sign before it in a span, so that lines break only between terms. */
export const withUnbrokenTerms = (html: string): string =>
  html.replaceAll(/<blockquote>[^]*?<\/blockquote>/g, (quote) =>
    quote.replaceAll(/(?<= )([=+] [^<=+]*[^<=+ ])/g, '<span>$1</span>'),
  );
