// Where this visit came from: its first touch and its last. Kept in this tab (sessionStorage), never in a cookie; sent with the
// form and with the counted steps (funnel.ts).
import { VISIT_HEADER } from '#shared/api.ts';
import { FIRST_TOUCH_KEY, tabStorage, thisPage, touchOf } from '#web/first-touch.ts';

/** Proxies refuse a request whose headers, cookies included, exceed 8,000 bytes. */
const HEADER_MAX_LENGTH = 4_000;

/** The header with both touches, or with the last alone if both are too long; none when nothing is known. */
export function visitHeader(storage = tabStorage, page = thisPage): Record<string, string> {
  const last = touchOf(page());
  let first = last;
  try {
    first = storage().getItem(FIRST_TOUCH_KEY) ?? last;
  } catch {
    // As above.
  }
  if (first === '' && last === '') return {};
  const fitting = [{ first, last }, { last }]
    .map((touches) => new URLSearchParams(touches).toString())
    .find((text) => text.length <= HEADER_MAX_LENGTH);
  return fitting === undefined ? {} : { [VISIT_HEADER]: fitting };
}
