export const withUnbrokenTerms = (html: string): string =>
  html.replaceAll(/<blockquote>[^]*?<\/blockquote>/g, (quote) =>
    quote.replaceAll(/(?<= )([=+] [^<=+]*[^<=+ ])/g, '<span>$1</span>'),
  );
