// Where people came from, as their forms say it.
import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { SLICE_SIZE, slicesOf } from '#server/db/engine/page-through-table.ts';

/**
 * Where the people came from of whom anything is kept: leads, and those who asked for a code.
 * @returns pages of attributions (JSON, server/attribution/attribution.ts), each once a page
 */
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
 * Where the newest people came from, for as long as there is time: leads, then those who asked for a code.
 * @param forMs for each of the two, in milliseconds
 * @returns attributions (JSON) with how many people have each; some come more than once
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
