import type { Span } from '#server/db/queries/report-figures.ts';
import { DAY_MS } from '#server/platform/time.ts';

export type Period = Span & {
  readonly name: string;
  readonly beforeName: string;
  readonly before: Span;
};

/** About ten years. */
const DAYS_LIMIT = 3_660;

/**
 * Reads `7d` or `4w` (ending today), or a month such as `2026-10`.
 * @returns null if invalid or in the future
 */
export function readPeriod(text: string, now: number): Period | null {
  const [, count, unit] = /^(\d{1,4})([dw])$/.exec(text) ?? [];
  if (count !== undefined) {
    const days = Number(count) * (unit === 'w' ? 7 : 1);
    if (days < 1 || days > DAYS_LIMIT) return null;
    const today = now - (now % DAY_MS);
    const from = today - (days - 1) * DAY_MS;
    return {
      name: text,
      from,
      to: now + 1,
      beforeName: days === 1 ? 'the day before' : `the ${days} days before`,
      before: { from: from - days * DAY_MS, to: now + 1 - days * DAY_MS },
    };
  }
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined) return null;
  const monthFrom = (offset: number) => Date.UTC(Number(year), Number(month) - 1 + offset);
  const from = monthFrom(0);
  if (from > now || Number(year) < 1970) return null;
  const end = monthFrom(1);
  const isOver = end <= now;
  return {
    name: text,
    from,
    to: isOver ? end : now + 1,
    beforeName: 'the month before',
    before: { from: monthFrom(-1), to: isOver ? from : Math.min(from, monthFrom(-1) + now + 1 - from) },
  };
}
