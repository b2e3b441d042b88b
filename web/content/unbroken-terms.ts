// Where the lines of a formula end.

/**
 * Keeps each term of a formula in a quotation together with the sign before it, so that no line ends after a sign or within a term.
 * @param html the article
 * @returns the same text, with a span around each term (content-stage.module.css)
 */
export const withUnbrokenTerms = (html: string): string =>
  html.replaceAll(/<blockquote>[^]*?<\/blockquote>/g, (quote) =>
    quote.replaceAll(/(?<= )([=+] [^<=+]*[^<=+ ])/g, '<span>$1</span>'),
  );
