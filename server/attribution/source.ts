// Where a lead came from, in one word for lists, filters and reports.
import type { Touch } from '#shared/attribution.ts';

/** Who adds which click identifier to the address of a page. */
const CLICK_IDS = [
  ['gclid', 'google-ads'],
  ['gbraid', 'google-ads'],
  ['wbraid', 'google-ads'],
  ['msclkid', 'microsoft-ads'],
  ['fbclid', 'meta'],
  ['li_fat_id', 'linkedin'],
] as const;

/** A visit without any hint of its source. */
export const DIRECT = 'direct';

/** As a form has it (server/attribution/attribution.ts): the last touch, and the first of the visit where that was another. */
export type KeptAttribution = Touch & { readonly first?: Touch };

/** @param json as it stands in the database */
export const readAttribution = (json: string): KeptAttribution => JSON.parse(json) as KeptAttribution;

/**
 * What the operator named the link (`utm_source`), else whose advertisement it was, else the site it was on, else `direct`. Of
 * the last touch that says something.
 */
export const sourceOf = (last: KeptAttribution): string =>
  sourceOfTouch(last) ?? (last.first && sourceOfTouch(last.first)) ?? DIRECT;

/** Of the first touch. */
export const firstSourceOf = (last: KeptAttribution): string =>
  (last.first && sourceOfTouch(last.first)) ?? sourceOfTouch(last) ?? DIRECT;

/** What the operator named the campaign (`utm_campaign`) of the touch that is the source. */
export const campaignOf = ({ first, ...last }: KeptAttribution): string | undefined =>
  last.utm_campaign ?? (sourceOfTouch(last) === undefined ? first?.utm_campaign : undefined);

/** Where a visit came from, as far as it is asked for. Both as {@link shownSource} shows them. */
export type Origin = { readonly source?: string | undefined; readonly campaign?: string | undefined };

/** Whether a visit came from there. @param json as it stands in the database; null when it was erased */
export function isFrom(json: string | null, { source, campaign }: Origin): boolean {
  if (source === undefined && campaign === undefined) return true;
  if (json === null) return false;
  const attribution = readAttribution(json);
  return (
    (source === undefined || shownSource(sourceOf(attribution)) === source) &&
    (campaign === undefined || shownSource(campaignOf(attribution) ?? '') === campaign)
  );
}

/**
 * Texts of which one stands in the attribution of everyone who came from a source, so that others need not be read.
 * @returns undefined where there are none
 */
export function hintsOf(source: string): readonly string[] | undefined {
  if (source === DIRECT) return undefined;
  const clickIds = CLICK_IDS.filter(([, name]) => name === source).map(([id]) => id);
  return [...clickIds, JSON.stringify(source).slice(1, -1)];
}

function sourceOfTouch(touch: Touch): string | undefined {
  if (touch.utm_source !== undefined) return touch.utm_source;
  const click = CLICK_IDS.find(([name]) => touch[name] !== undefined);
  return click?.[1] ?? touch.referrer;
}

/** What further sources, and those that must not be shown, are counted as. */
export const OTHERS = 'others';
/** Source of a person whose form was erased or has expired. */
export const ERASED = 'no longer known';
const SHOWN_MAX_LENGTH = 40;

/** A source fit to be shown: a word or two, never an address. */
export function shownSource(source: string): string {
  const shown = source.replaceAll(/\p{C}/gu, '\uFFFD').trim();
  // Some mailing tools write the address of the recipient into their links.
  if (shown === '' || shown.includes('@') || /%40/.test(shown)) return OTHERS;
  const letters = Array.from(shown);
  return letters.length > SHOWN_MAX_LENGTH ? `${letters.slice(0, SHOWN_MAX_LENGTH - 1).join('')}…` : shown;
}
