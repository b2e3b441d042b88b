/**
 * Inserts the styles before those added earlier, which therefore win. A constructed style sheet needs no permission from the
 * Content-Security-Policy.
 */
export function adoptStyles(styles: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  document.adoptedStyleSheets.unshift(sheet);
}
