// Compares variants from the day on which the newest one was first seen. A moving period would be a new sample on each
// check.
import { compareTwo, shareOf, type Share, type Verdict } from '#desk/report/compare-variants.ts';
import { variantGroups } from '#server/db/queries/report-figures.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { variantDays } from '#server/db/tables/counts.ts';
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
  /** First day of the comparison, ISO 8601 in UTC; null if a variant was never seen. */
  readonly since: string | null;
  readonly variants: readonly ComparedVariant[];
  /** Compares each variant with the campaign's own page. */
  readonly verdicts: readonly (Verdict & { readonly variant: string })[];
};

/**
 * @param to milliseconds since 1970, excluded
 * @returns null without variants
 */
export async function compareVariants(
  database: Pick<OpenDatabase, 'db'>,
  { to, timeZone }: { readonly to: number; readonly timeZone: string },
  variants: readonly { readonly name: string; readonly consentVersion: string }[],
  onCounted: (people: number) => void,
): Promise<Comparison | null> {
  const [own, ...others] = variants;
  if (own === undefined || others.length === 0) return null;
  const names = variants.map(({ name }) => name);
  const lastDay = dayOf(to - 1, timeZone);
  const days = (await variantDays(database.db, FIRST_SEEN, names)).filter(({ day }) => day <= lastDay);
  const firstDays = names.map((name) => days.find(({ variant }) => variant === name)?.day);
  const since = firstDays.includes(undefined) ? null : Math.max(...firstDays.map((day) => day ?? 0));
  const views = new Map<string, number>();
  const leads = new Map<string, number>();
  const add = (sums: Map<string, number>, name: string, count: number) =>
    sums.set(name, (sums.get(name) ?? 0) + count);
  if (since !== null) {
    for (const { day, variant, count } of days) if (day >= since) add(views, variant, count);
    for await (const groups of variantGroups(database, { from: startOfDay(since, timeZone), to }))
      for (const { variant, people } of groups) {
        onCounted(people);
        add(leads, variant, people);
      }
  }
  const figures = (name: string) => ({ name, views: views.get(name) ?? 0, leads: leads.get(name) ?? 0 });
  return {
    since: since === null ? null : isoTime(startOfDay(since, timeZone)),
    variants: variants.map(({ name, consentVersion }) => ({
      ...figures(name),
      share: shareOf(figures(name)),
      consentVersion,
    })),
    verdicts: others.map(({ name }) => ({
      variant: name,
      ...compareTwo(figures(own.name), figures(name), others.length),
    })),
  };
}
