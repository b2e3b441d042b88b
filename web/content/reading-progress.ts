// How far a page has been read.

/**
 * Reading progress in percent, 0 to 100.
 * @param scrolled pixels scrolled from the top
 * @param scrollable pixels that can be scrolled at most; 0 when everything fits the window, which is then all read
 */
export function readingProgress(scrolled: number, scrollable: number): number {
  if (scrollable <= 0) return 100;
  return Math.min(100, Math.max(0, (scrolled / scrollable) * 100));
}
