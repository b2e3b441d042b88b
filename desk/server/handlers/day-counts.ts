// Counts rows per span of time. Past days no longer grow, so they are cached for an hour, or until somebody is erased.
import { countsBetween } from '#server/db/engine/ids.ts';
import { wasAnyoneErasedSince } from '#server/db/tables/desk-log.ts';
import { HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { dayOf, startOfDay } from '#shared/days.ts';

type Table = Parameters<typeof countsBetween>[1];
export type Between = { readonly from: number; readonly to: number };
export type CountEach = (table: Table, spans: readonly Between[]) => Promise<readonly number[]>;

/** A row may be committed shortly after its time, so a day counts as past only after this delay. */
const SETTLED_MS = 5 * MINUTE_MS;

type Piece = Between & { readonly day: number; readonly isWhole: boolean };

export function createDayCounts({
  database,
  clock,
  config: { timeZone },
}: Pick<Service, 'database' | 'clock' | 'config'>): CountEach {
  const known = new Map<string, { readonly count: number; readonly until: number }>();
  let checkedAt = 0;
  return async (table, spans) => {
    const now = clock();
    // A broken audit log must not break the figures.
    const wasErased = () => wasAnyoneErasedSince(database.db, checkedAt - SETTLED_MS).catch(() => true);
    if (known.size > 0 && (await wasErased())) known.clear();
    checkedAt = now;
    // A clock that was ahead counted days that were not over.
    for (const [key, { until }] of known) if (until <= now || until > now + 2 * HOUR_MS) known.delete(key);
    const keyOf = ({ from, to }: Between) => `${table} ${from} ${to}`;
    const pieces = new Map(
      spans.flatMap((span) => piecesOf(span, timeZone)).map((piece) => [keyOf(piece), piece]),
    );
    const missing = [...pieces.values()].filter((piece) => !known.has(keyOf(piece)));
    // Copied, because a parallel request may delete expired ones.
    const counts = new Map(Array.from(known, ([key, { count }]) => [key, count] as const));
    const found = await countsBetween(database.db, table, missing);
    for (const [at, piece] of missing.entries()) counts.set(keyOf(piece), found[at]!);
    for (const piece of missing) {
      const isPast = piece.isWhole && piece.to + SETTLED_MS <= now;
      // Staggered, so no single response has to count all days again.
      const until = now + HOUR_MS + (piece.day % 60) * MINUTE_MS;
      if (isPast) known.set(keyOf(piece), { count: counts.get(keyOf(piece))!, until });
    }
    const countOf = (piece: Between) => counts.get(keyOf(piece)) ?? 0;
    return spans.map((span) => piecesOf(span, timeZone).reduce((sum, piece) => sum + countOf(piece), 0));
  };
}

function piecesOf({ from, to }: Between, timeZone: string): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let begin = from; begin < to;) {
    const day = dayOf(begin, timeZone);
    const end = startOfDay(day + 1, timeZone);
    const isWhole = begin === startOfDay(day, timeZone) && end <= to;
    pieces.push({ from: begin, to: Math.min(to, end), day, isWhole });
    begin = Math.min(to, end);
  }
  return pieces;
}
