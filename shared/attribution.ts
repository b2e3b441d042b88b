// Where a visit came from, as far as an address says: by an allow-list, with bounded lengths. The page sends it in a header
// (x-visit), because the specification fixes the body of the call; nothing about it is kept in a cookie.

import { singleLine, visibleLength } from '#shared/single-line.ts';

/** Campaign parameters, and the click identifiers of advertising networks. */
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

/** The host of the site that a link was on. */
const REFERRER = 'referrer';
/** Everything that is kept about a lead's visit, in the order of its columns. */
export const TOUCH_NAMES = [...TOUCH_PARAMETERS, REFERRER] as const;
export type Touch = Readonly<Partial<Record<(typeof TOUCH_NAMES)[number], string>>>;

const VALUE_MAX_LENGTH = 200;
const HOST = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/;

/** A browser's URLSearchParams, Node's alike; the types here are of neither. */
type Parameters = { readonly get: (name: string) => string | null };

/**
 * Reads a touch from the parameters of an address, or of one half of the header.
 * @returns what is known and not empty
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
