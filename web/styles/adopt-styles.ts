/**
 * Inserts the styles before those added earlier, which therefore win. A constructed style sheet needs no permission from the
 * Content-Security-Policy.
 */
export function adoptStyles(root: Document, styles: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  root.adoptedStyleSheets.unshift(sheet);
}
