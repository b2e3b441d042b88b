const GOES_SOMEWHERE =
  /^(?:https?:\/\/[^\s/?#]+\.?[^\s]*|mailto:[^\s@]+@[^\s@]+|tel:\+?[\d\s().-]+|\/(?!\/)\S*)$/i;

/** Makes a link of the landing page work on another page. Takes a valid link and the path of PUBLIC_URL. */
export const fromOtherPage = (href: string, path: string): string =>
  /^#./.test(href) ? `${path}/${href}` : href;

/**
 * Returns an error as a phrase to follow the name of the entry; null for a working link.
 * @param places targets within the page; null accepts any, before they are known
 */
export function linkMistake(href: string, places: readonly string[] | null): string | null {
  if (href === '#') return null;
  if (href.startsWith('#'))
    return places === null || places.includes(href.slice(1))
      ? null
      : `leads to no place of the page${places.length > 0 ? `; there are #${places.join(', #')}` : ''}`;
  if (/^[“”„"'‘’]|[“”„"'‘’]$/.test(href))
    return 'holds a curly quote; remove it, or type straight ones around the text';
  if (/\s/.test(href) && !href.startsWith('tel:')) return 'must not hold blanks; write %20 for one';
  if (GOES_SOMEWHERE.test(href)) return null;
  if (/^[^\s@/:]+@[^\s@/]+\.[^\s@/]+$/.test(href)) return `must begin with mailto:, as in mailto:${href}`;
  if (/^[\w-]+(?:\.[\w-]+)+(?:[/?#:].*)?$/.test(href))
    return `must begin with https://, as in https://${href}`;
  return 'must begin with https://, mailto: or tel:, or with / for a page of this site';
}
