// Where a lead came from, in one word for lists, filters and reports.

/** Who adds which click identifier to the address of a page. */
const CLICK_IDS = {
  gclid: 'google-ads',
  gbraid: 'google-ads',
  wbraid: 'google-ads',
  msclkid: 'microsoft-ads',
  fbclid: 'meta',
  li_fat_id: 'linkedin',
} as const;

/** Who came without anything that says from where. */
const DIRECT = 'direct';

/**
 * Reads what was noted about a visit (server/leads/attribution.ts).
 * @param json as it stands in the database
 */
export const readAttribution = (json: string): Readonly<Record<string, string | undefined>> =>
  JSON.parse(json) as Record<string, string>;

/** What the operator named the link (`utm_source`), else whose advertisement it was, else `direct`. */
export function sourceOf(attribution: Readonly<Record<string, string | undefined>>): string {
  if (attribution['utm_source'] !== undefined) return attribution['utm_source'];
  const click = Object.entries(CLICK_IDS).find(([name]) => attribution[name] !== undefined);
  return click?.[1] ?? DIRECT;
}
