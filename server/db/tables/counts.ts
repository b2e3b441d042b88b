import { sql, type Selectable } from 'kysely';

import type { Schema } from '#server/db/all-tables.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { hasRow } from '#server/db/engine/row-counts.ts';
import type { VariantStep } from '#shared/funnel.ts';

export type FunnelCount = Selectable<Schema['funnel_counts']>;

const ROWS_PER_INSERT = 500;

/**
 * Adds counts. Once a step has `maxSources` sources on a day, further ones are counted together as `others`, so strangers cannot
 * fill the table. The limit is exact across processes, because they take turns.
 */
export async function addFunnelCounts(
  db: Db,
  counts: readonly FunnelCount[],
  { maxSources, others }: { readonly maxSources: number; readonly others: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await acquireLocks(tx, 'funnel');
    const known = await tx
      .selectFrom('funnel_counts')
      .select(['day', 'step', 'source'])
      .where('day', 'in', [...new Set(counts.map(({ day }) => day))])
      .execute();
    const sourcesOf = new Map<string, Set<string>>();
    const sources = ({ day, step }: { readonly day: number; readonly step: string }): Set<string> => {
      const key = `${day} ${step}`;
      const set = sourcesOf.get(key) ?? new Set();
      sourcesOf.set(key, set);
      return set;
    };
    for (const row of known) if (row.source !== others) sources(row).add(row.source);

    const rows = new Map<string, FunnelCount>();
    for (const added of counts) {
      const named = sources(added);
      const hasOwnRow = added.source === others || named.has(added.source) || named.size < maxSources;
      const source = hasOwnRow ? added.source : others;
      if (source !== others) named.add(source);
      const key = `${added.day} ${added.step} ${source}`;
      rows.set(key, { ...added, source, count: (rows.get(key)?.count ?? 0) + added.count });
    }
    const all = [...rows.values()];
    for (let from = 0; from < all.length; from += ROWS_PER_INSERT)
      await tx
        .insertInto('funnel_counts')
        .values(all.slice(from, from + ROWS_PER_INSERT))
        .onConflict((conflict) =>
          conflict
            .columns(['day', 'step', 'source'])
            .doUpdateSet((eb) => ({ count: eb('funnel_counts.count', '+', eb.ref('excluded.count')) })),
        )
        .execute();
  });
}

export async function firstFunnelDay(db: Db): Promise<number | null> {
  const row = await db
    .selectFrom('funnel_counts')
    .select((eb) => eb.fn.min('day').as('day'))
    .executeTakeFirst();
  return row?.day ?? null;
}

export async function isSourceCounted(db: Db, source: string): Promise<boolean> {
  return hasRow(db.selectFrom('funnel_counts').select('day').where('source', '=', source));
}

/** Days are counted since 1970. */
export type FunnelSums = {
  readonly days: readonly { readonly day: number; readonly step: string; readonly count: number }[];
  /** Views of the largest sources. */
  readonly sources: readonly { readonly source: string; readonly count: number }[];
};

export async function funnelSums(
  db: Db,
  span: {
    readonly from: number;
    readonly last: number;
    readonly maxSources: number;
    readonly source?: string | undefined;
  },
): Promise<FunnelSums> {
  const { from, last, maxSources, source } = span;
  const within = db
    .selectFrom('funnel_counts')
    .where('day', '>=', from)
    .where('day', '<=', last)
    .$if(source !== undefined, (query) => query.where('source', '=', source!));
  const sum = sql<number>`cast(sum(count) as bigint)`;
  const days = await within
    .select(['day', 'step', sum.as('count')])
    .groupBy(['day', 'step'])
    .execute();
  const sources = await within
    .select(['source', sum.as('count')])
    .where('step', '=', 'seen')
    .groupBy('source')
    .orderBy(sum, 'desc')
    .orderBy('source')
    .limit(maxSources)
    .execute();
  return { days, sources };
}

export type VariantCount = Selectable<Schema['variant_counts']>;

export async function addVariantCounts(db: Db, counts: readonly VariantCount[]): Promise<void> {
  if (counts.length === 0) return;
  const keyOf = ({ day, step, variant }: VariantCount) => `${day} ${step} ${variant}`;
  await db
    .insertInto('variant_counts')
    .values(counts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
    .onConflict((conflict) =>
      conflict
        .columns(['day', 'step', 'variant'])
        .doUpdateSet((eb) => ({ count: eb('variant_counts.count', '+', eb.ref('excluded.count')) })),
    )
    .execute();
}

export async function variantDays(db: Db, step: VariantStep): Promise<readonly Omit<VariantCount, 'step'>[]> {
  return db
    .selectFrom('variant_counts')
    .select(['day', 'variant', 'count'])
    .where('step', '=', step)
    .orderBy('day')
    .execute();
}
