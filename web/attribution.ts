// The first and last touch of a visit, kept in sessionStorage, never in a cookie. Sent with the form and the funnel
// steps.
import { VISIT_HEADER } from '#shared/api.ts';
import { FIRST_TOUCH_KEY, tabStorage, thisPage, touchOf } from '#web/first-touch.ts';

/** Proxies refuse requests whose headers, cookies included, exceed 8,000 bytes. */
const HEADER_MAX_LENGTH = 4_000;

/** Contains both touches, or only the last if both are too long. No header if nothing is known. */
export function visitHeader(storage = tabStorage, page = thisPage): Record<string, string> {
  const last = touchOf(page());
  let first = last;
  try {
    first = storage().getItem(FIRST_TOUCH_KEY) ?? last;
  } catch {
    // Storage is forbidden.
  }
  if (first === '' && last === '') return {};
  const fitting = [{ first, last }, { last }]
    .map((touches) => new URLSearchParams(touches).toString())
    .find((text) => text.length <= HEADER_MAX_LENGTH);
  return fitting === undefined ? {} : { [VISIT_HEADER]: fitting };
}
