// How many rows of a table fall into a span of time. Those of past days are counted once an hour: no more are added to them.
import { countsBetween } from '#server/db/queries/counts-between.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

type Timed = Parameters<typeof countsBetween>[1];
/** `from` included, `to` excluded. Milliseconds since 1970. */
export type Between = { readonly from: number; readonly to: number };

export type DayCounts = {
  /** Counts each of some spans. */
  readonly countEach: (timed: Timed, spans: readonly Between[]) => Promise<readonly number[]>;
};

/** A row is written a moment after the time that stands in it. */
const SETTLED_MS = 5 * MINUTE_MS;

/** Makes a counter that remembers past days. */
export function createDayCounts({ database, clock }: Pick<Service, 'database' | 'clock'>): DayCounts {
  const known = new Map<string, { readonly count: number; readonly until: number }>();
  return {
    countEach: async (timed, spans) => {
      const now = clock();
      for (const [key, { until }] of known) if (until <= now) known.delete(key);
      const keyOf = ({ from, to }: Between) => `${timed.table} ${from} ${to}`;
      const pieces = new Map(spans.flatMap(piecesOf).map((piece) => [keyOf(piece), piece]));
      const missing = [...pieces.values()].filter((piece) => !known.has(keyOf(piece)));
      const found = await countsBetween(database.db, timed, missing);
      const counts = new Map<string, number>(missing.map((piece, at) => [keyOf(piece), found[at]!]));
      for (const piece of missing) {
        const isPast = piece.to - piece.from === DAY_MS && piece.to + SETTLED_MS <= now;
        // Not all at once, or each hour had a slow answer.
        const until = now + HOUR_MS + ((piece.from / DAY_MS) % 60) * MINUTE_MS;
        if (isPast) known.set(keyOf(piece), { count: counts.get(keyOf(piece))!, until });
      }
      const countOf = (piece: Between) => counts.get(keyOf(piece)) ?? known.get(keyOf(piece))?.count ?? 0;
      return spans.map((span) => piecesOf(span).reduce((sum, piece) => sum + countOf(piece), 0));
    },
  };
}

/** The days of a span, the first and the last one as far as they belong to it. */
function piecesOf({ from, to }: Between): readonly Between[] {
  const pieces: Between[] = [];
  for (let begin = from; begin < to;) {
    const end = Math.min(to, begin - (begin % DAY_MS) + DAY_MS);
    pieces.push({ from: begin, to: end });
    begin = end;
  }
  return pieces;
}
