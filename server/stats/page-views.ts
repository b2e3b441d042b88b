import type { OpenDatabase } from '#server/db/engine/connect.ts';
import type { Span } from '#server/db/queries/report-figures.ts';
import { firstFunnelDay, funnelSums } from '#server/db/tables/counts.ts';
import { OTHERS } from '#server/attribution/source.ts';
import { DAY_MS } from '#server/platform/time.ts';

/** Days are counted since 1970, in UTC. */
export type PageViews = {
  /** The first day with any count, even outside the span. */
  readonly firstDay: number;
  readonly byDay: ReadonlyMap<number, number>;
  readonly bySource: ReadonlyMap<string, number>;
  readonly bySteps: ReadonlyMap<string, number>;
};

/**
 * @param options source: only views from it. sourcesLimit: further sources are counted as OTHERS
 * @returns null if nothing was ever counted
 */
export async function readPageViews(
  db: OpenDatabase['db'],
  { from, to }: Span,
  { sourcesLimit, source }: { readonly sourcesLimit: number; readonly source?: string | undefined },
): Promise<PageViews | null> {
  const firstDay = await firstFunnelDay(db);
  if (firstDay === null) return null;
  const { days, sources } = await funnelSums(db, {
    from: Math.floor(from / DAY_MS),
    last: Math.floor((to - 1) / DAY_MS),
    mostSources: sourcesLimit,
    source,
  });
  const byDay = new Map<number, number>();
  const bySteps = new Map<string, number>();
  for (const { day, step, count } of days) {
    if (step === 'seen') byDay.set(day, count);
    bySteps.set(step, (bySteps.get(step) ?? 0) + count);
  }
  const bySource = new Map(sources.map((row) => [row.source, row.count]));
  const named = sources.reduce((sum, { count }) => sum + count, 0);
  bySource.set(OTHERS, (bySource.get(OTHERS) ?? 0) + (bySteps.get('seen') ?? 0) - named);
  return { firstDay, byDay, bySource, bySteps };
}
