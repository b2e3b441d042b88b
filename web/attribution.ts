// Keeps the first and last touch of a visit in sessionStorage, never in a cookie.
import { VISIT_HEADER } from '#shared/api.ts';
import { orNull } from '#shared/or-null.ts';
import { FIRST_TOUCH_KEY, lastTouch } from '#web/first-touch.ts';

/** Some proxies refuse requests with more than 8,000 bytes of headers, including cookies. */
const HEADER_MAX_LENGTH = 4_000;

export function visitHeader(): Record<string, string> {
  const last = lastTouch();
  // Storage may be forbidden.
  const first = orNull(() => sessionStorage.getItem(FIRST_TOUCH_KEY)) ?? last;
  if (first === '' && last === '') return {};
  const fitting = [{ first, last }, { last }]
    .map((touches) => new URLSearchParams(touches).toString())
    .find((text) => text.length <= HEADER_MAX_LENGTH);
  return fitting === undefined ? {} : { [VISIT_HEADER]: fitting };
}
