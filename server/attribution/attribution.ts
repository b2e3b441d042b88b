import { readTouch, type Touch } from '#shared/attribution.ts';

/** The last touch before the form, and the first touch of the visit if it differs. */
export type Attribution = Touch & { readonly first?: Touch };

/** Both touches at their maximum length, in percent-encoded UTF-8. */
const HEADER_MAX_LENGTH = 8_192;

/**
 * Reads the campaign header; without it, the URL in Referer, which browsers send in full to the same origin.
 * @param headers the values of `x-visit` and `referer`
 */
export function attributionOf({
  visit,
  referer,
}: {
  readonly visit: string | string[] | undefined;
  readonly referer: string | undefined;
}): Attribution {
  if (typeof visit !== 'string' || visit.length > HEADER_MAX_LENGTH) {
    const query = referer === undefined ? null : (URL.parse(referer)?.searchParams ?? null);
    query?.delete('referrer');
    return query === null ? {} : readTouch(query);
  }
  const touches = new URLSearchParams(visit);
  const [first, last] = (['first', 'last'] as const).map((name) =>
    readTouch(new URLSearchParams(touches.get(name) ?? '')),
  ) as [Touch, Touch];
  const isAnother = Object.keys(first).length > 0 && JSON.stringify(first) !== JSON.stringify(last);
  return isAnother ? { ...last, first } : last;
}
