// Where this visit came from: its first touch and its last. Kept in this tab (sessionStorage), told with the form and with what is
// counted (funnel.ts), and never in a cookie.
import { VISIT_HEADER } from '#shared/api.ts';
import { readTouch } from '#shared/attribution.ts';

const KEY = 'first-touch';
/** Servers in between refuse all headers of a request beyond 8,000 bytes; cookies and a browser's own are among them. */
const HEADER_MAX_LENGTH = 4_000;

/** What was this page's address when it was opened, and which site linked to it. */
type Opened = Pick<Location, 'search' | 'host'> & { readonly referrer: string };

const tabStorage = (): Pick<Storage, 'getItem' | 'setItem'> => sessionStorage;
const thisPage = (): Opened => ({
  search: location.search,
  host: location.host,
  referrer: document.referrer,
});

/** The touch of a page as the text of parameters; empty when there is nothing to tell. */
function touchOf({ search, host, referrer }: Opened): string {
  const parameters = new URLSearchParams(search);
  // Ours to say, not the address's.
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

/** Notes how this visit began, unless it is noted already. To be called once the page is opened. */
export function noteFirstTouch(storage = tabStorage, page = thisPage): void {
  const touch = touchOf(page());
  try {
    if (touch !== '' && storage().getItem(KEY) === null) storage().setItem(KEY, touch);
  } catch {
    // A browser that keeps nothing: the last touch is the first.
  }
}

/** The header that tells both touches, or the last alone if both are too long; none when there is nothing to tell. */
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
