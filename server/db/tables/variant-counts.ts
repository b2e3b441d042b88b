// How often each step was taken on the pages of each variant, by day. The rows are bounded: the caller knows the variants.
import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import type { FunnelStep, VariantStep } from '#shared/funnel.ts';

export type VariantCount = {
  /** Days since 1970, in UTC. */
  readonly day: number;
  readonly step: FunnelStep | VariantStep;
  readonly variant: string;
  readonly count: number;
};

/** Adds counts to those that are there. */
export async function addVariantCounts(db: Db, counts: readonly VariantCount[]): Promise<void> {
  if (counts.length === 0) return;
  const keyOf = ({ day, step, variant }: VariantCount) => `${day} ${step} ${variant}`;
  await db
    .insertInto('variant_counts')
    // Processes that write the same rows at the same time take them in the same order.
    .values(counts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
    .onConflict((conflict) =>
      conflict
        .columns(['day', 'step', 'variant'])
        .doUpdateSet((eb) => ({ count: eb('variant_counts.count', '+', eb.ref('excluded.count')) })),
    )
    .execute();
}

/** Deletes at most `most` rows of the days before one. */
export async function deleteVariantCounts(
  tx: Db,
  { before, most }: { readonly before: number; readonly most: number },
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('variant_counts')
    .where(
      sql<boolean>`(day, step, variant) in (
        select day, step, variant from variant_counts where day < ${before} order by day, step, variant limit ${most}
      )`,
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** The counts of one step by day, of the variants that are asked for. */
export async function variantDays(
  db: Db,
  step: VariantStep,
  variants: readonly string[],
): Promise<readonly { readonly day: number; readonly variant: string; readonly count: number }[]> {
  return db
    .selectFrom('variant_counts')
    .select(['day', 'variant', 'count'])
    .where('step', '=', step)
    .where('variant', 'in', variants)
    .orderBy('day')
    .execute();
}
