import { singleLine, visibleLength } from '#shared/typed-input.ts';

export const READ_STEPS = ['quarter', 'half', 'three-quarters', 'whole'] as const;
export type ReadStep = (typeof READ_STEPS)[number];

export const REPORTED_STEPS = ['opened', ...READ_STEPS] as const;
export type ReportedStep = (typeof REPORTED_STEPS)[number];

/** The server counts `seen`; the browser reports the others. */
export type FunnelStep = 'seen' | ReportedStep;

/** The page reports the first variant that a browser sees, because the server cannot recognise a browser. */
export const FIRST_SEEN = 'first-seen';
export type VariantStep = typeof FIRST_SEEN;

export type CountedStep = 'seen' | 'opened' | 'asked' | 'entered';

/** `variant=b` previews a variant; `kept-variant=b` requests the one that this browser was given earlier. */
export const variantAskedFor = (url: string): string | null =>
  /[?&](?:kept-)?variant=([\w-]{0,40})/.exec(url)?.[1] ?? null;

/** Other parameters are ignored. Never stored in a cookie. */
export const TOUCH_NAMES = [
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
  'referrer',
] as const;
export type Touch = Readonly<Partial<Record<(typeof TOUCH_NAMES)[number], string>>>;

const VALUE_MAX_LENGTH = 200;
const HOST = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/;

/**
 * Reads the known, non-empty parameters of a URL, or of one of the two touches in the header. Accepts a browser's or Node's
 * URLSearchParams.
 */
export function readTouch(parameters: { readonly get: (name: string) => string | null }): Touch {
  const touch: Partial<Record<(typeof TOUCH_NAMES)[number], string>> = {};
  for (const name of TOUCH_NAMES) {
    // PostgreSQL refuses U+0000.
    const value = singleLine((parameters.get(name) ?? '').slice(0, VALUE_MAX_LENGTH));
    if (visibleLength(value) > 0 && (name !== 'referrer' || HOST.test(value))) touch[name] = value;
  }
  return touch;
}
