// Where this visit came from: its first touch and its last. Kept in this tab (sessionStorage), never in a cookie; sent with the
// form and with the counted steps (funnel.ts).
import { VISIT_HEADER } from '#shared/api.ts';
import { readTouch } from '#shared/attribution.ts';

const KEY = 'first-touch';
/** Proxies refuse a request whose headers, cookies included, exceed 8,000 bytes. */
const HEADER_MAX_LENGTH = 4_000;

/** The address this page was opened at, and the site that linked to it. */
type Opened = Pick<Location, 'search' | 'host'> & { readonly referrer: string };

const tabStorage = (): Pick<Storage, 'getItem' | 'setItem'> => sessionStorage;
const thisPage = (): Opened => ({
  search: location.search,
  host: location.host,
  referrer: document.referrer,
});

/** The touch of a page as URL parameters; empty when nothing is known. */
function touchOf({ search, host, referrer }: Opened): string {
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
    if (touch !== '' && storage().getItem(KEY) === null) storage().setItem(KEY, touch);
  } catch {
    // A browser that keeps nothing: the last touch is the first.
  }
}

/** The header with both touches, or with the last alone if both are too long; none when nothing is known. */
export function visitHeader(storage = tabStorage, page = thisPage): Record<string, string> {
  const last = touchOf(page());
  let first = last;
  try {
    first = storage().getItem(KEY) ?? last;
  } catch {
    // As above.
  }
  if (first === '' && last === '') return {};
  const fitting = [{ first, last }, { last }]
    .map((touches) => new URLSearchParams(touches).toString())
    .find((text) => text.length <= HEADER_MAX_LENGTH);
  return fitting === undefined ? {} : { [VISIT_HEADER]: fitting };
}
