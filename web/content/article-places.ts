// Links to headings and notes of the article, and the heading at which a reader stopped.

import { orNull } from '#shared/or-null.ts';
import { SITE_PATH } from '#web/site-path.ts';
import { goTo } from '#web/ui/go-to.ts';

/** Follows links within the article without a new history entry, because each entry is a stage. */
export function followLinkWithin(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
  const target = link && document.getElementById(link.getAttribute('href')?.slice(1) ?? '');
  if (!target) return;
  event.preventDefault();
  goTo(target);
}

type Reading = {
  readonly scrolled: number;
  readonly windowHeight: number;
  /** Distances from the top of the window, in the article's order. */
  readonly headings: readonly number[];
  readonly bottom: number;
};

/** Returns the index of the heading to continue at; null at the end of the article; undefined before a screen was read. */
export function placeOf({ scrolled, windowHeight, headings, bottom }: Reading): number | null | undefined {
  if (scrolled <= windowHeight) return undefined;
  if (bottom <= windowHeight) return null;
  const place = headings.findLastIndex((top) => top < windowHeight / 2);
  return place < 0 ? undefined : place;
}

const headingsIn = (article: HTMLElement) =>
  Array.from(article.querySelectorAll<HTMLElement>('[id^=section]'));

/** Contains the path, because another guide on this host has its own key. */
const KEY = `reading-place${SITE_PATH}`;

export function saveReadingPlace(article: HTMLElement): void {
  const headings = headingsIn(article);
  const place = placeOf({
    scrolled: scrollY,
    windowHeight: innerHeight,
    headings: headings.map((heading) => heading.getBoundingClientRect().top),
    bottom: article.getBoundingClientRect().bottom,
  });
  if (place === undefined) return;
  try {
    if (place === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, headings[place]?.id ?? '');
  } catch {
    // Storage is forbidden.
  }
}

/** Without the numbers of footnotes. */
export const wordsOf = (heading: HTMLElement): string =>
  Array.from(heading.childNodes, (node) => (node.nodeName === 'SUP' ? '' : node.textContent)).join('');

export function headingToContinueAt(article: HTMLElement): HTMLElement | undefined {
  // Storage may be forbidden.
  const place = orNull(() => localStorage.getItem(KEY));
  return headingsIn(article).find(({ id }) => id === place);
}
