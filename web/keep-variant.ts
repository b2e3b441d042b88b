// Keeps a browser with the page that it was given first, of several that are compared (variants/ of the campaign). The server draws one at
// random; this notes which, in localStorage: a few letters that half of all visitors share, so no identifier. A browser that comes by
// another address and was given another page asks for its own. Part of the boot script, and of no page that is not compared.
import { noteFirstTouch } from '#web/first-touch.ts';

/** Compared with `variants`: another comparison begins anew. */
const KEY = 'page-variant';

type Place = Pick<Location, 'search' | 'hash' | 'pathname' | 'replace'>;
type Kept = Pick<Storage, 'getItem' | 'setItem'>;

/** What to do with a page: `new`: it is this browser's first; `known`; `leaving`: its own page comes; `preview`: only looked at. */
export type Meeting = 'new' | 'known' | 'leaving' | 'preview';

/**
 * Notes or looks up which page this browser has.
 * @param own variant of this page
 * @param all names of the pages that are compared, with commas
 */
export function meetVariant(
  own: string,
  all: string,
  storage: () => Kept = () => localStorage,
  place: Place = location,
): Meeting {
  const { search, hash, pathname } = place;
  // Of this visit's second request nothing shows.
  const kept = /[?&]kept-variant=[\w-]*$/.exec(search);
  if (kept) history.replaceState(history.state, '', pathname + search.slice(0, kept.index) + hash);
  else if (/[?&]variant=/.test(search)) return 'preview';
  try {
    const [name = '', of] = storage().getItem(KEY)?.split(' ') ?? [];
    if (of === all) {
      if (name === own || kept || !all.split(',').includes(name)) return 'known';
      // The next request does not say which site linked here.
      noteFirstTouch();
      place.replace(`${pathname}${search}${search ? '&' : '?'}kept-variant=${name}${hash}`);
      return 'leaving';
    }
    storage().setItem(KEY, `${own} ${all}`);
  } catch {
    // A browser that keeps nothing is given a page each time, and is new each time.
  }
  return 'new';
}
