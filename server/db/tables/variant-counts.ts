// Rows are bounded, because the caller knows the variants.
import type { Db } from '#server/db/engine/connect.ts';
import type { FunnelStep, VariantStep } from '#shared/funnel.ts';

export type VariantCount = {
  /** Days since 1970, in UTC. */
  readonly day: number;
  readonly step: FunnelStep | VariantStep;
  readonly variant: string;
  readonly count: number;
};

export async function addVariantCounts(db: Db, counts: readonly VariantCount[]): Promise<void> {
  if (counts.length === 0) return;
  const keyOf = ({ day, step, variant }: VariantCount) => `${day} ${step} ${variant}`;
  await db
    .insertInto('variant_counts')
    // In one order, so concurrent processes don't deadlock.
    .values(counts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
    .onConflict((conflict) =>
      conflict
        .columns(['day', 'step', 'variant'])
        .doUpdateSet((eb) => ({ count: eb('variant_counts.count', '+', eb.ref('excluded.count')) })),
    )
    .execute();
}

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
