// Counts what is limited: by settings (server/settings/settings-table.ts), or as fixed-limits.ts says. The
// counts are in the database, so all processes share them.
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';
import { networkOf } from '#server/platform/network-of.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { hasCodeOfItsOwn, type Challenge } from '#server/db/tables/challenges.ts';
import { codesAliveSince } from '#server/db/tables/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  countInSlidingWindows,
  countInWindowUpTo,
  readSlidingWindows,
  uncountInSlidingWindows,
  type SlidingWindow,
} from '#server/db/tables/limit-windows.ts';
import {
  RESEND_TOLERANCE_SHARE,
  SENDS_PER_DAY_FACTOR,
  SHARED_ATTEMPTS_PER_DAY_FACTOR,
} from '#server/settings/fixed-limits.ts';

type LimitOutcome =
  { readonly type: 'allowed' } | { readonly type: 'exceeded'; readonly retryAfterSeconds: number };

const ALLOWED: LimitOutcome = { type: 'allowed' };

const exceededUntil = (endsAt: number, now: number): LimitOutcome => ({
  type: 'exceeded',
  retryAfterSeconds: Math.max(1, Math.ceil((endsAt - now) / 1000)),
});

export type CountedLimits = {
  /** How often a network may ask for codes. */
  readonly askFromNetwork: (db: Db, clientAddress: string, now: number) => Promise<LimitOutcome>;
  /**
   * How many codes an e-mail address is sent, by requests from anywhere, in an hour and in a day. Read-only: sends are counted. A day is
   * over for a code 24 hours after its life, so no more than a day's were live at any time in any 24 hours.
   */
  readonly sendToAddress: (db: Db, email: string, now: number) => Promise<LimitOutcome>;
  /** How often a network may enter codes. */
  readonly verifyFromNetwork: (db: Db, clientAddress: string, now: number) => Promise<LimitOutcome>;
  /**
   * Counts a try of a browser without a challenge, before the comparison: CODE_ATTEMPTS in the life of a code, and four times as
   * many in 24 hours. To be called in a transaction that holds the address (lockAddress), and committed before comparing.
   *
   * Two things are counted. The tries made while a code was live decide whether this try is compared, so that a stranger cannot
   * use up the tries of a later code. All tries decide how a wrong code is answered, so that the answers do not show whether
   * a visitor waits for one.
   */
  readonly tryWithoutChallenge: (
    tx: Db,
    email: string,
    against: { readonly atLiveCodes: boolean },
    now: number,
  ) => Promise<{ readonly mayCompare: boolean; readonly ifWrong: LimitOutcome }>;
  /** Whether some of the tries that {@link tryWithoutChallenge} counts may be used up now, or all of a day's. */
  readonly isSharedBudgetTouched: (db: Db, email: string, now: number) => Promise<boolean>;
  /** Takes a try back that {@link tryWithoutChallenge} counted and that turned out right. */
  readonly forgiveTry: (tx: Db, email: string, now: number) => Promise<void>;
  /** Wrong tries of one challenge; 0 means without limit. A resend never resets them. */
  readonly triesPerChallenge: number;
  /** Whether a challenge has used up its tries: it is over, and the next code begins a new one. */
  readonly isExhausted: (challenge: Challenge) => boolean;
  /** Asking again within this time answers as before and sends nothing. Milliseconds. */
  readonly resendQuietMs: number;
};

/**
 * Makes the limits out of the settings.
 * @param secrets what is counted for an e-mail address is counted under its pseudonym: it holds when the address is erased
 */
export function createCountedLimits(
  config: Pick<Config, 'limits' | 'codeTtlSeconds' | 'resendSeconds'>,
  secrets: Secrets,
): CountedLimits {
  const { leadsPerIpPerHour, leadsPerEmailPerHour, verifyPerIpPerHour, codeAttempts } = config.limits;
  const codeTtlMs = config.codeTtlSeconds * 1000;
  const triesPerDay = codeAttempts * SHARED_ATTEMPTS_PER_DAY_FACTOR;

  const countUpTo = async (db: Db, key: string, limit: number, windowMs: number, now: number) => {
    if (limit === 0) return ALLOWED;
    const full = await countInWindowUpTo(db, key, { limit, windowMs }, now);
    return full === null ? ALLOWED : exceededUntil(full.endsAt, now);
  };

  const sharedTries = (email: string) => {
    const [pseudonym, ...former] = pseudonymsOf(secrets, email);
    const window = (what: string, windowMs: number): SlidingWindow => ({
      key: `${what}: ${pseudonym}`,
      formerKeys: former.map((name) => `${what}: ${name}`),
      windowMs,
    });
    const windows = (what: string): readonly [SlidingWindow, SlidingWindow] => [
      window(what, codeTtlMs),
      window(`${what} a day`, DAY_MS),
    ];
    return {
      tried: windows('tries without challenge'),
      compared: windows('tries at live codes'),
      notCompared: windows('tries at nothing'),
    };
  };

  return {
    askFromNetwork: (db, clientAddress, now) =>
      countUpTo(db, `asks: ${networkOf(clientAddress)}`, leadsPerIpPerHour, HOUR_MS, now),

    sendToAddress: async (db, email, now) => {
      if (leadsPerEmailPerHour === 0) return ALLOWED;
      const leadsPerEmailPerDay = leadsPerEmailPerHour * SENDS_PER_DAY_FACTOR;
      // Codes sent before the address was erased still count.
      const emails = [email, ...pseudonymsOf(secrets, email)];
      const codes = await codesAliveSince(
        db,
        { emails, since: now - DAY_MS, most: leadsPerEmailPerDay },
        now,
      );
      // The windows slide: when as many as are allowed lie within one, the oldest of them says when one more may go.
      const lastOfHour = codes[leadsPerEmailPerHour - 1];
      const hourEndsAt = lastOfHour === undefined ? 0 : lastOfHour.sentAt + HOUR_MS;
      const dayEndsAt =
        codes.length < leadsPerEmailPerDay
          ? 0
          : codes.reduce((first, { endsAt: end }) => Math.min(first, end), Infinity) + DAY_MS;
      const endsAt = Math.max(hourEndsAt, dayEndsAt);
      return endsAt > now ? exceededUntil(endsAt, now) : ALLOWED;
    },

    verifyFromNetwork: (db, clientAddress, now) =>
      countUpTo(db, `tries: ${networkOf(clientAddress)}`, verifyPerIpPerHour, HOUR_MS, now),

    tryWithoutChallenge: async (tx, email, { atLiveCodes }, now) => {
      if (codeAttempts === 0) return { mayCompare: true, ifWrong: ALLOWED };
      const { tried, compared, notCompared } = sharedTries(email);
      const [triedNow, triedInADay, comparedNow, comparedInADay] = await readSlidingWindows(
        tx,
        [...tried, ...compared],
        now,
      );
      const mayCompare =
        atLiveCodes && comparedNow.count < codeAttempts && comparedInADay.count < triesPerDay;
      // The same number of rows is written in either case, so that the time of the answer shows nothing.
      await countInSlidingWindows(tx, [...tried, ...(mayCompare ? compared : notCompared)], now);
      const hasRoomAt = Math.max(triedNow.hasRoomAt(codeAttempts), triedInADay.hasRoomAt(triesPerDay));
      return { mayCompare, ifWrong: hasRoomAt > now ? exceededUntil(hasRoomAt, now) : ALLOWED };
    },

    isSharedBudgetTouched: async (db, email, now) => {
      if (codeAttempts === 0) return false;
      const [triedNow, triedInADay] = await readSlidingWindows(db, sharedTries(email).tried, now);
      return triedNow.count > 0 || triedInADay.count >= triesPerDay;
    },

    forgiveTry: (tx, email, now) => {
      const { tried, compared } = sharedTries(email);
      return uncountInSlidingWindows(tx, [...tried, ...compared], now);
    },

    triesPerChallenge: codeAttempts,
    isExhausted: (challenge) =>
      hasCodeOfItsOwn(challenge) && codeAttempts > 0 && challenge.wrong_tries >= codeAttempts,
    resendQuietMs: config.resendSeconds * 1000 * (1 - RESEND_TOLERANCE_SHARE),
  };
}
