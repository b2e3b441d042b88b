/** Keeps each term of a formula on one line, and marks the formula. */
export const withUnbrokenTerms = (html: string): string =>
  html.replaceAll(/<blockquote>([^]*?)<\/blockquote>/g, (quote, inside: string) => {
    const terms = inside.replaceAll(/(?<= )([=+] [^<=+]*[^<=+ ])/g, '<span>$1</span>');
    return terms === inside ? quote : `<blockquote data-formula>${terms}</blockquote>`;
  });
