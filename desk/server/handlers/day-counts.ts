// Counts rows per span of time. Past days no longer grow, so they are cached for an hour.
import { countsBetween } from '#server/db/engine/ids.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

type Table = Parameters<typeof countsBetween>[1];
export type Between = { readonly from: number; readonly to: number };

export type DayCounts = {
  readonly countEach: (table: Table, spans: readonly Between[]) => Promise<readonly number[]>;
};

/** A row may be committed shortly after its time, so a day counts as past only after this delay. */
const SETTLED_MS = 5 * MINUTE_MS;

export function createDayCounts({ database, clock }: Pick<Service, 'database' | 'clock'>): DayCounts {
  const known = new Map<string, { readonly count: number; readonly until: number }>();
  return {
    countEach: async (table, spans) => {
      const now = clock();
      for (const [key, { until }] of known) if (until <= now) known.delete(key);
      const keyOf = ({ from, to }: Between) => `${table} ${from} ${to}`;
      const pieces = new Map(spans.flatMap(piecesOf).map((piece) => [keyOf(piece), piece]));
      const missing = [...pieces.values()].filter((piece) => !known.has(keyOf(piece)));
      const found = await countsBetween(database.db, table, missing);
      const counts = new Map<string, number>(missing.map((piece, at) => [keyOf(piece), found[at]!]));
      for (const piece of missing) {
        const isPast = piece.to - piece.from === DAY_MS && piece.to + SETTLED_MS <= now;
        // Staggered, so no single response has to count all days again.
        const until = now + HOUR_MS + ((piece.from / DAY_MS) % 60) * MINUTE_MS;
        if (isPast) known.set(keyOf(piece), { count: counts.get(keyOf(piece))!, until });
      }
      const countOf = (piece: Between) => counts.get(keyOf(piece)) ?? known.get(keyOf(piece))?.count ?? 0;
      return spans.map((span) => piecesOf(span).reduce((sum, piece) => sum + countOf(piece), 0));
    },
  };
}

function piecesOf({ from, to }: Between): readonly Between[] {
  const pieces: Between[] = [];
  for (let begin = from; begin < to;) {
    const end = Math.min(to, begin - (begin % DAY_MS) + DAY_MS);
    pieces.push({ from: begin, to: end });
    begin = end;
  }
  return pieces;
}
