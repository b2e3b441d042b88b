export type TimeToEnter = {
  readonly people: number;
  readonly p50Seconds: number;
  readonly p95Seconds: number;
  /** Each group begins where the previous one ends; null: no upper bound. */
  readonly groups: readonly { readonly belowSeconds: number | null; readonly people: number }[];
};

const GROUPS_SECONDS = [15, 30, 60, 120, 300, 600];

/**
 * @param peopleBySeconds number of people by seconds
 * @returns null if empty
 */
export function timeToEnter(peopleBySeconds: ReadonlyMap<number, number>): TimeToEnter | null {
  const sorted = [...peopleBySeconds].toSorted(([a], [b]) => a - b);
  const people = sorted.reduce((sum, [, count]) => sum + count, 0);
  if (people === 0) return null;
  const quantile = (share: number): number => {
    let reached = 0;
    for (const [seconds, count] of sorted) {
      reached += count;
      if (reached >= share * people) return seconds;
    }
    return 0;
  };
  const countIn = (from: number, below: number) =>
    sorted.reduce((sum, [seconds, count]) => (seconds >= from && seconds < below ? sum + count : sum), 0);
  const groups = [...GROUPS_SECONDS, null].map((belowSeconds, index) => ({
    belowSeconds,
    people: countIn(GROUPS_SECONDS[index - 1] ?? 0, belowSeconds ?? Number.POSITIVE_INFINITY),
  }));
  return { people, p50Seconds: quantile(0.5), p95Seconds: quantile(0.95), groups };
}
