// Compares variants from the first day that showed them all, because a moving period would be a new sample on each check.
import { compareTwo, shareOf, type Share, type Verdict } from '#desk/report/compare-variants.ts';
import { leadsBy, type Span } from '#server/db/queries/report-figures.ts';
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
  readonly consentVersion: string;
};

export type Comparison = {
  /** First day of the comparison, ISO 8601 in UTC; null if a variant was never seen. May be in the future. */
  readonly since: string | null;
  /** The campaign's own page first. */
  readonly variants: readonly ComparedVariant[];
  /** Compares each variant with the campaign's own page. */
  readonly verdicts: readonly (Verdict & { readonly variant: string })[];
};

type VariantInfo = Pick<ComparedVariant, 'name' | 'consentVersion'>;

type VariantDay = Omit<VariantCount, 'step'>;

/**
 * @param to end of the report
 * @param variants the campaign's own page first
 */
export async function compareVariants(
  db: Db,
  { to, timeZone }: { readonly to: number; readonly timeZone: string },
  variants: readonly VariantInfo[],
  onCounted: (people: number) => void,
): Promise<Comparison> {
  const lastDay = dayOf(to - 1, timeZone);
  const days = (await variantDays(db, FIRST_SEEN)).filter(({ day }) => day <= lastDay);
  const firstDay = firstWholeDay(days, variants);
  const from = firstDay === null ? null : startOfDay(firstDay, timeZone);
  const countedDays = days.filter(({ day }) => firstDay !== null && day >= firstDay);
  const leads = await countLeads(db, from === null ? null : { from, to }, onCounted);
  const figures = variants.map((variant) => ({
    ...variant,
    views: countedDays.reduce((sum, day) => (day.variant === variant.name ? sum + day.count : sum), 0),
    leads: leads.get(variant.name) ?? 0,
  }));
  const [own, ...others] = figures;
  return {
    since: from === null ? null : isoTime(from),
    variants: figures.map((one) => ({ ...one, share: shareOf(one) })),
    verdicts: others.map((other) => ({ variant: other.name, ...compareTwo(own!, other, others.length) })),
  };
}

/**
 * Returns the first day of the newest variant; null if a variant was never seen. If there are views from an earlier day, or of
 * other variants on this one, the newest was added in the middle of the day, so the next day is returned.
 * @param days ascending
 */
function firstWholeDay(days: readonly VariantDay[], variants: readonly VariantInfo[]): number | null {
  const names = variants.map(({ name }) => name);
  const firstDays = names.map((name) => days.find(({ variant }) => variant === name)?.day);
  if (firstDays.includes(undefined)) return null;
  const newest = Math.max(...firstDays.map((day) => day ?? 0));
  const isMixed = days.some(
    ({ day, variant }) => day < newest || (day === newest && !names.includes(variant)),
  );
  return isMixed ? newest + 1 : newest;
}

async function countLeads(
  db: Db,
  span: Span | null,
  onCounted: (people: number) => void,
): Promise<ReadonlyMap<string, number>> {
  const leads = new Map<string, number>();
  if (span === null) return leads;
  for await (const groups of leadsBy(db, span, ['variant']))
    for (const { variant, people } of groups) {
      if (variant === null) continue;
      onCounted(people);
      leads.set(variant, (leads.get(variant) ?? 0) + people);
    }
  return leads;
}
