/** In a quoted formula, allows line breaks only between terms. */
export const withUnbrokenTerms = (html: string): string =>
  html.replaceAll(/<blockquote>[^]*?<\/blockquote>/g, (quote) =>
    quote.replaceAll(/(?<= )([=+] [^<=+]*[^<=+ ])/g, '<span>$1</span>'),
  );
