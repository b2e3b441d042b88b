// The first touch of this visit: where it came from when the page was opened. Kept in this tab (sessionStorage), never in a cookie. Without
// the schemas of our calls, because the boot script of a page with variants has it, too.
import { readTouch } from '#shared/attribution.ts';
import { SITE_PATH } from '#web/site-path.ts';

/** Where the first touch is kept. */
export const FIRST_TOUCH_KEY = `first-touch${SITE_PATH}`;

/** The address this page was opened at, and the site that linked to it. */
type Opened = Pick<Location, 'search' | 'host'> & { readonly referrer: string };

export const tabStorage = (): Pick<Storage, 'getItem' | 'setItem'> => sessionStorage;
export const thisPage = (): Opened => ({
  search: location.search,
  host: location.host,
  referrer: document.referrer,
});

/** The touch of a page as URL parameters; empty when nothing is known. */
export function touchOf({ search, host, referrer }: Opened): string {
  const parameters = new URLSearchParams(search);
  // The browser says who referred; the address must not.
  parameters.delete('referrer');
  const from = hostOf(referrer);
  if (from !== '' && from !== host) parameters.set('referrer', from);
  return new URLSearchParams(readTouch(parameters)).toString();
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return '';
  }
}

/** Stores the first touch of this visit, unless one is stored. To be called once the page is opened. */
export function noteFirstTouch(storage = tabStorage, page = thisPage): void {
  const touch = touchOf(page());
  try {
    if (touch !== '' && storage().getItem(FIRST_TOUCH_KEY) === null)
      storage().setItem(FIRST_TOUCH_KEY, touch);
  } catch {
    // A browser that keeps nothing: the last touch is the first.
  }
}
