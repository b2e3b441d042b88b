import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { SLICE_SIZE, slicesOf } from '#server/db/engine/page-through-table.ts';

/** @returns JSON (server/attribution/attribution.ts), each once per page */
export async function* attributionPages(db: Db): AsyncGenerator<readonly string[], void, void> {
  for (const table of ['leads', 'submissions'] as const)
    for await (const { after, last } of slicesOf(db, { table, column: 'id', size: SLICE_SIZE })) {
      const rows = await db
        .selectFrom(table)
        .select('attribution')
        .distinct()
        .where('id', '>', after)
        .where('id', '<=', last)
        .execute();
      yield rows.map(({ attribution }) => attribution);
    }
}

/**
 * The newest leads, then people who asked for a code.
 * @param forMs for each of the two, in milliseconds
 * @returns JSON with numbers of people; some come more than once
 */
export async function* newestAttributions(
  db: Db,
  forMs: number,
): AsyncGenerator<readonly { readonly attribution: string; readonly people: number }[], void, void> {
  for (const table of ['leads', 'submissions'] as const) {
    const until = performance.now() + forMs;
    const cut = { table, column: 'id', size: SLICE_SIZE, newestFirst: true } as const;
    for await (const { after, last } of slicesOf(db, cut)) {
      yield await db
        .selectFrom(table)
        .select(['attribution', sql<number>`count(*)`.as('people')])
        .where('id', '>', after)
        .where('id', '<=', last)
        .groupBy('attribution')
        .execute();
      if (performance.now() >= until) break;
    }
  }
}
