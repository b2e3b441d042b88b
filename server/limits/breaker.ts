// The list-bomb breaker. Somebody who makes us mail codes to thousands of strangers harms them and our own standing with
// mail servers, and each single request looks like a visitor's. What shows is the whole: far more codes than usual, or
// codes that nobody enters. Then the breaker opens, and for a while every code must be paid for with a proof of work.
import type { Config } from '#server/config.ts';
import { codeStatistics } from '#server/db/codes.ts';
import type { Db } from '#server/db/connect.ts';
import { countInWindow, readWindow } from '#server/db/limit-windows.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long it stays open; if the reason lasts, it opens again at once. */
const OPEN_MS = 10 * MINUTE_MS;
/** How long one process trusts its last look at the database. */
const LOOK_EVERY_MS = 2_000;
/** A share says something from so many codes in the last hour on, and from so many a day. */
const RECENT_MIN = 100;
const DAY_MIN = 25;
const USUAL_DAYS = 8;
/** What a page without a past is measured by. */
const UNKNOWN_USUAL_PERCENT = 40;
const SAMPLE = 2_000;
/** "Far above": so many percentage points over the usual share of codes that nobody enters. */
const FAR_ABOVE_PERCENT = 25;
/** No page is so forgetful: whoever makes a storm usual must not talk the breaker out of it. */
const ALWAYS_TOO_MANY_PERCENT = 90;

const OPEN_KEY = 'breaker is open';

export type BreakerReason = 'too many codes a minute' | 'too few codes entered';

export type Breaker = {
  /** Whether a new code must be paid for. All processes agree: the state is in the database. */
  readonly isOpen: () => Promise<boolean>;
};

type BreakerParts = {
  readonly db: Db;
  readonly config: Pick<Config, 'breaker' | 'codeTtlSeconds'>;
  readonly clock: () => number;
  /** Told once each time it opens, by the process that opened it. */
  readonly onOpened: (reason: BreakerReason) => void;
};

/** Makes the breaker out of its ceilings; 0 lifts a ceiling, and with both lifted it never opens. */
export function createBreaker({ db, config, clock, onOpened }: BreakerParts): Breaker {
  const { codesPerMinute, unenteredPercent } = config.breaker;
  let lastLook = Number.NEGATIVE_INFINITY;
  let open = false;

  /** The median of the last eight days, so that one bad day does not pass for usual. */
  const findUsualPercent = async (until: number): Promise<number> => {
    const shares: number[] = [];
    for (let day = 0; day < USUAL_DAYS; day += 1) {
      const to = until - day * DAY_MS;
      const codes = await codeStatistics(db, { from: to - DAY_MS, to, most: SAMPLE });
      if (codes.sent >= DAY_MIN) shares.push(percentUnentered(codes));
    }
    return shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)] ?? UNKNOWN_USUAL_PERCENT;
  };

  const findReason = async (now: number): Promise<BreakerReason | null> => {
    if (codesPerMinute > 0) {
      const span = { from: now - MINUTE_MS, to: now + MINUTE_MS, most: codesPerMinute };
      if ((await codeStatistics(db, span)).sent >= codesPerMinute) return 'too many codes a minute';
    }
    if (unenteredPercent > 0) {
      // Only codes whose time is over: a code of a minute ago may still be entered.
      const decided = now - config.codeTtlSeconds * 1000;
      const recent = await codeStatistics(db, { from: decided - HOUR_MS, to: decided, most: SAMPLE });
      const share = percentUnentered(recent);
      if (recent.sent >= RECENT_MIN && share >= unenteredPercent) {
        const usual = await findUsualPercent(decided - HOUR_MS);
        if (share >= Math.min(usual + FAR_ABOVE_PERCENT, ALWAYS_TOO_MANY_PERCENT))
          return 'too few codes entered';
      }
    }
    return null;
  };

  return {
    isOpen: async () => {
      if (codesPerMinute === 0 && unenteredPercent === 0) return false;
      const now = clock();
      if (Math.abs(now - lastLook) < LOOK_EVERY_MS) return open;
      lastLook = now;
      open = (await readWindow(db, OPEN_KEY, now)).count > 0;
      if (open) return true;
      const reason = await findReason(now);
      if (reason !== null) {
        // Several processes may see it at once; the one that counts first tells.
        const { count } = await countInWindow(db, OPEN_KEY, OPEN_MS, now);
        if (count === 1) onOpened(reason);
        open = true;
      }
      return open;
    },
  };
}

const percentUnentered = ({ sent, entered }: { sent: number; entered: number }): number =>
  sent === 0 ? 0 : ((sent - entered) / sent) * 100;
