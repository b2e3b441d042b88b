/** Keeps each term of a formula on one line, and marks the formula. */
export const withUnbrokenTerms = (html: string): string =>
  html.replaceAll(/<blockquote>([^]*?)<\/blockquote>/g, (quote, inside: string) => {
    // Tags are matched too, because the description of a picture may contain a formula.
    const terms = inside.replaceAll(/<[^>]*>|(?<= )[=+] [^<=+]*[^<=+ ]/g, (part) =>
      part.startsWith('<') ? part : `<span>${part}</span>`,
    );
    return terms === inside ? quote : `<blockquote data-formula>${terms}</blockquote>`;
  });
