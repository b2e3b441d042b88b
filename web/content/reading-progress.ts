// How far a page has been read.
import { READ_STEPS, type ReadStep } from '#shared/funnel.ts';

/**
 * Reading progress in percent, 0 to 100.
 * @param scrolled pixels scrolled from the top
 * @param scrollable pixels that can be scrolled at most; 0 when everything fits the window, which is then all read
 */
export function readingProgress(scrolled: number, scrollable: number): number {
  if (scrollable <= 0) return 100;
  return Math.min(100, Math.max(0, (scrolled / scrollable) * 100));
}

/**
 * Which parts of the article have come into view.
 * @param article where it stands in the window, in pixels
 * @param windowHeight in pixels
 */
export function partsRead(
  { top, height }: Pick<DOMRect, 'top' | 'height'>,
  windowHeight: number,
): readonly ReadStep[] {
  const share = height > 0 ? Math.max(0, (windowHeight - top) / height) : 0;
  return READ_STEPS.slice(0, Math.floor(share * READ_STEPS.length));
}
