// Where a visit came from: an allow-list of URL parameters with bounded lengths. It is never stored in a cookie.

import { singleLine, visibleLength } from '#shared/single-line.ts';

const TOUCH_PARAMETERS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'gclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'msclkid',
  'li_fat_id',
] as const;

const REFERRER = 'referrer';
export const TOUCH_NAMES = [...TOUCH_PARAMETERS, REFERRER] as const;
export type Touch = Readonly<Partial<Record<(typeof TOUCH_NAMES)[number], string>>>;

const VALUE_MAX_LENGTH = 200;
const HOST = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/;

type Parameters = { readonly get: (name: string) => string | null };

/**
 * Reads the known, non-empty parameters of a URL, or of one half of the header. Takes a browser's or Node's
 * URLSearchParams.
 */
export function readTouch(parameters: Parameters): Touch {
  const touch: Partial<Record<(typeof TOUCH_NAMES)[number], string>> = {};
  for (const name of TOUCH_NAMES) {
    // PostgreSQL refuses U+0000.
    const value = singleLine((parameters.get(name) ?? '').slice(0, VALUE_MAX_LENGTH));
    if (visibleLength(value) > 0 && (name !== REFERRER || HOST.test(value))) touch[name] = value;
  }
  return touch;
}
