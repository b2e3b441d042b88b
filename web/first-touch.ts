// Keeps the origin of a visit in sessionStorage. Imports no schemas, because the boot script of pages with variants includes this file.
import { readTouch } from '#shared/funnel.ts';
import { SITE_PATH } from '#web/site-path.ts';

export const FIRST_TOUCH_KEY = `first-touch${SITE_PATH}`;

type Opened = Pick<Location, 'search' | 'host'> & { readonly referrer: string };

export const tabStorage = (): Pick<Storage, 'getItem' | 'setItem'> => sessionStorage;
export const thisPage = (): Opened => ({
  search: location.search,
  host: location.host,
  referrer: document.referrer,
});

export function touchOf({ search, host, referrer }: Opened): string {
  const parameters = new URLSearchParams(search);
  // The referrer must come from the browser, not from the URL.
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

export function noteFirstTouch(storage = tabStorage, page = thisPage): void {
  const touch = touchOf(page());
  try {
    if (touch !== '' && storage().getItem(FIRST_TOUCH_KEY) === null)
      storage().setItem(FIRST_TOUCH_KEY, touch);
  } catch {
    // Storage is forbidden.
  }
}
