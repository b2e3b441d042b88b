import type { IncomingHttpHeaders } from 'node:http';

import { VISIT_HEADER } from '#shared/api.ts';
import { readTouch, type Touch } from '#shared/funnel.ts';

/** The last touch before the form, and the first touch of the visit if it differs. */
export type Attribution = Touch & { readonly first?: Touch };

const HEADER_MAX_LENGTH = 8_192;

/** Reads the campaign header or, without it, the URL in Referer, which browsers send in full to the same origin. */
export function attributionOf(headers: IncomingHttpHeaders): Attribution {
  const { [VISIT_HEADER]: visit, referer } = headers;
  if (typeof visit !== 'string' || visit.length > HEADER_MAX_LENGTH) {
    const query = referer === undefined ? null : (URL.parse(referer)?.searchParams ?? null);
    query?.delete('referrer');
    return query === null ? {} : readTouch(query);
  }
  const touches = new URLSearchParams(visit);
  const touchOf = (name: string) => readTouch(new URLSearchParams(touches.get(name) ?? ''));
  const [first, last] = [touchOf('first'), touchOf('last')];
  const hasOtherFirst = Object.keys(first).length > 0 && JSON.stringify(first) !== JSON.stringify(last);
  return hasOtherFirst ? { ...last, first } : last;
}

const CLICK_IDS = [
  ['gclid', 'google-ads'],
  ['gbraid', 'google-ads'],
  ['wbraid', 'google-ads'],
  ['msclkid', 'microsoft-ads'],
  ['fbclid', 'meta'],
  ['li_fat_id', 'linkedin'],
] as const;

export const DIRECT = 'direct';

export const readAttribution = (json: string): Attribution => JSON.parse(json) as Attribution;

/** Returns the source of the last touch that has one, otherwise `direct`. */
export const sourceOf = (last: Attribution): string =>
  sourceOfTouch(last) ?? (last.first && sourceOfTouch(last.first)) ?? DIRECT;

export const firstSourceOf = (last: Attribution): string =>
  (last.first && sourceOfTouch(last.first)) ?? sourceOfTouch(last) ?? DIRECT;

export const campaignOf = ({ first, ...last }: Attribution): string | undefined =>
  last.utm_campaign ?? (sourceOfTouch(last) === undefined ? first?.utm_campaign : undefined);

export type Origin = { readonly source?: string | undefined; readonly campaign?: string | undefined };

export function isFrom(json: string | null, { source, campaign }: Origin): boolean {
  if (source === undefined && campaign === undefined) return true;
  if (json === null) return false;
  const attribution = readAttribution(json);
  const ownCampaign = campaignOf(attribution);
  return (
    (source === undefined || isCalled(sourceOf(attribution), source)) &&
    (campaign === undefined || (ownCampaign !== undefined && isCalled(ownCampaign, campaign)))
  );
}

/** @param wanted the whole name of a source or campaign, or its name in reports and mails */
export const isCalled = (name: string, wanted: string): boolean =>
  name === wanted || shownSource(name) === wanted;

/**
 * Returns texts for a cheap first filter: the stored attribution of every lead from this source contains one of them.
 * @returns undefined for `direct`
 */
export function hintsOf(source: string): readonly string[] | undefined {
  if (source === DIRECT) return undefined;
  const clickIds = CLICK_IDS.filter(([, name]) => name === source).map(([id]) => id);
  return [...clickIds, hintOf(source)];
}

/** Returns a text that the stored attribution of everyone with this name contains; of a name as shown, its beginning. */
export const hintOf = (name: string): string =>
  name === OTHERS ? '' : JSON.stringify(name.split(/[\uFFFD…]/, 1)[0]).slice(1, -1);

/** In order of preference: `utm_source`, the advertiser of a click ID, the linking site. */
function sourceOfTouch(touch: Touch): string | undefined {
  if (touch.utm_source !== undefined) return touch.utm_source;
  const click = CLICK_IDS.find(([name]) => touch[name] !== undefined);
  return click?.[1] ?? touch.referrer;
}

/** Stands for sources beyond the limit, and those that must not be shown. */
export const OTHERS = 'others';
export const ERASED = 'no longer known';
const SHOWN_MAX_LENGTH = 40;

/** @returns the source as a short name, never an e-mail address */
export function shownSource(source: string): string {
  // Joiners are kept, because names and emoji need them.
  const shown = source.replaceAll(/[\p{C}--[\u200C\u200D]]/gv, '\uFFFD').trim();
  // Some mailing tools write the recipient's e-mail address into their links.
  if (shown === '' || shown.includes('@') || /%40/.test(shown)) return OTHERS;
  const characters = Array.from(shown);
  return characters.length > SHOWN_MAX_LENGTH
    ? `${characters.slice(0, SHOWN_MAX_LENGTH - 1).join('')}…`
    : shown;
}

/** False for names that must not be shown even in full, such as those with an e-mail address. */
export function mayBeShown(name: string): boolean {
  const shown = shownSource(name);
  return shown === name || (shown.endsWith('…') && name.startsWith(shown.slice(0, -1)));
}
