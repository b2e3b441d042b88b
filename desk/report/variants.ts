// Compares variants from the first day that showed them all, because a moving period would be a new sample on each check.
import { compareTwo, shareOf, type Share, type Verdict } from '#desk/report/compare-variants.ts';
import { OWN_PAGE } from '#server/campaign/campaign-folder.ts';
import { variantGroups, type Span } from '#server/db/queries/report-figures.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { variantDays, type VariantCount } from '#server/db/tables/counts.ts';
import { isoTime } from '#server/platform/time.ts';
import { dayOf, startOfDay } from '#shared/days.ts';
import { FIRST_SEEN } from '#shared/funnel.ts';

type ComparedVariant = {
  readonly name: string;
  readonly views: number;
  readonly leads: number;
  /** Leads per first view, from 0 to 1; null without views. */
  readonly share: Share | null;
  /** Null for the variants of a finished comparison. */
  readonly consentVersion: string | null;
};

export type Comparison = {
  /** First day of the comparison, ISO 8601 in UTC; null if a variant was never seen. May be in the future. */
  readonly since: string | null;
  /** Null while visitors are shown these variants; otherwise the end, excluded. */
  readonly until: string | null;
  /** The campaign's own page first. */
  readonly variants: readonly ComparedVariant[];
  /** Compares each variant with the campaign's own page. */
  readonly verdicts: readonly (Verdict & { readonly variant: string })[];
};

type Named = Pick<ComparedVariant, 'name' | 'consentVersion'>;

type VariantDay = Omit<VariantCount, 'step'>;

/**
 * @param variants the campaign's own page first
 * @returns the comparison of the campaign's variants, and one for each removed variant seen in the period
 */
export async function compareVariants(
  db: Db,
  { from, to, timeZone }: Span & { readonly timeZone: string },
  variants: readonly Named[],
  onCounted: (people: number) => void,
): Promise<readonly Comparison[]> {
  const [firstDay, lastDay] = [dayOf(from, timeZone), dayOf(to - 1, timeZone)];
  const days = (await variantDays(db, FIRST_SEEN)).filter(({ day }) => day <= lastDay);
  const shown = new Set([OWN_PAGE, ...variants.map(({ name }) => name)]);
  const removed = new Set(
    days.filter(({ day, variant }) => day >= firstDay && !shown.has(variant)).map(({ variant }) => variant),
  );
  const compared: readonly { readonly among: readonly Named[]; readonly end: number | null }[] = [
    ...(variants.length > 1 ? [{ among: variants, end: null }] : []),
    ...Array.from(removed, (name) => ({
      among: [OWN_PAGE, name].map((one) => ({ name: one, consentVersion: null })),
      end: endOf(days, name),
    })),
  ];
  const timeOf = (day: number) => startOfDay(day, timeZone);
  const comparisons: Comparison[] = [];
  for (const { among, end } of compared) {
    const since = firstWholeDay(days, among);
    if (end !== null && (since === null || since >= end)) continue;
    const span = since === null ? null : { from: timeOf(since), to: end === null ? to : timeOf(end) };
    const counted = days.filter(({ day }) => since !== null && day >= since && (end === null || day < end));
    comparisons.push({
      since: span === null ? null : isoTime(span.from),
      until: end === null ? null : isoTime(timeOf(end)),
      ...compare(among, counted, await countLeads(db, span, onCounted)),
    });
  }
  return comparisons;
}

/**
 * Returns the first day of the newest variant; null if a variant was never seen. If there are views from an earlier day, or of other
 * variants on this one, the newest was added in the middle of the day, so the next day is returned.
 * @param days ascending
 */
function firstWholeDay(days: readonly VariantDay[], variants: readonly Named[]): number | null {
  const names = variants.map(({ name }) => name);
  const firstDays = names.map((name) => days.find(({ variant }) => variant === name)?.day);
  if (firstDays.includes(undefined)) return null;
  const newest = Math.max(...firstDays.map((day) => day ?? 0));
  const isMixed = days.some(
    ({ day, variant }) => day < newest || (day === newest && !names.includes(variant)),
  );
  return isMixed ? newest + 1 : newest;
}

/**
 * @param days ascending
 * @returns the day after a removed variant's last one; the last one if visitors also saw other variants on this day
 */
function endOf(days: readonly VariantDay[], name: string): number {
  const last = days.findLast(({ variant }) => variant === name)?.day ?? 0;
  const isMixed = days.some(({ day, variant }) => day === last && ![OWN_PAGE, name].includes(variant));
  return isMixed ? last : last + 1;
}

async function countLeads(
  db: Db,
  span: Span | null,
  onCounted: (people: number) => void,
): Promise<ReadonlyMap<string, number>> {
  const leads = new Map<string, number>();
  if (span === null) return leads;
  for await (const groups of variantGroups(db, span))
    for (const { variant, people } of groups) {
      onCounted(people);
      leads.set(variant, (leads.get(variant) ?? 0) + people);
    }
  return leads;
}

function compare(
  variants: readonly Named[],
  days: readonly VariantDay[],
  leads: ReadonlyMap<string, number>,
): Pick<Comparison, 'variants' | 'verdicts'> {
  const figures = variants.map((variant) => ({
    ...variant,
    views: days.reduce((sum, day) => (day.variant === variant.name ? sum + day.count : sum), 0),
    leads: leads.get(variant.name) ?? 0,
  }));
  const [own, ...others] = figures;
  const comparisons = others.length;
  return {
    variants: figures.map((one) => ({ ...one, share: shareOf(one) })),
    verdicts: others.map((other) => ({ variant: other.name, ...compareTwo(own!, other, comparisons) })),
  };
}
