// Counts are in the database, so all processes share them.
import { networkOf } from '#server/platform/ip-addresses.ts';
import { exceededUntil, type LimitOutcome } from '#server/platform/network-limit.ts';
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';
import { pseudonymsOf, type Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { hasCodeOfItsOwn, type Challenge } from '#server/codes/challenges.ts';
import { newestCodesOf, isFromFuture, type Code } from '#server/codes/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  countInSlidingWindows,
  countInWindowUpTo,
  readSlidingWindows,
  uncountInSlidingWindows,
  type SlidingWindow,
} from '#server/db/tables/limit-windows.ts';
import type { Breaker } from '#server/limits/breaker.ts';
import {
  RESEND_TOLERANCE_SHARE,
  SENDS_PER_DAY_FACTOR,
  SHARED_ATTEMPTS_PER_DAY_FACTOR,
} from '#server/settings/fixed-limits.ts';

const ALLOWED: LimitOutcome = { type: 'allowed' };

export type CountedLimits = {
  readonly countFormOfNetwork: (db: Db, clientAddress: string, now: number) => Promise<LimitOutcome>;
  /** Returns the newest codes first, including codes from before an erasure. */
  readonly readCodesSent: (db: Db, email: string, now: number) => Promise<readonly Code[]>;
  /**
   * For the hourly limit, a code counts for an hour after its creation; for the daily limit, until 24 hours after its expiry.
   * Therefore no more codes than the daily limit are live in any 24 hours.
   * @param codes from {@link readCodesSent}, newest first
   */
  readonly checkCodesSent: (codes: readonly Code[], now: number) => LimitOutcome;
  readonly countAttemptOfNetwork: (db: Db, clientAddress: string, now: number) => Promise<LimitOutcome>;
  /**
   * For a browser without its own code. All such browsers share the attempts for an e-mail address: CODE_ATTEMPTS per code
   * lifetime and four times as many in 24 hours. Acquire the e-mail address's lock first, and commit before comparing.
   * @returns mayCompare: depends only on attempts made while a code was live, so nobody can use up the attempts for a later code.
   * limitIfWrong: depends on all attempts, so the response doesn't reveal whether a visitor is waiting for a code
   */
  readonly consumeSharedAttempt: (
    tx: Db,
    email: string,
    options: { readonly hasLiveCodes: boolean },
    now: number,
  ) => Promise<{ readonly mayCompare: boolean; readonly limitIfWrong: LimitOutcome }>;
  /**
   * Returns true if a shared attempt was made within a code's lifetime, or all of the day's are used up. Then only a new code is
   * certain to work. Like `limitIfWrong`, it depends on all attempts.
   */
  readonly mayLackSharedAttempts: (db: Db, email: string, now: number) => Promise<boolean>;
  /**
   * Refunds a successful attempt.
   * @param consumed from {@link consumeSharedAttempt}; mayCompare tells which windows counted it
   */
  readonly refundSharedAttempt: (
    tx: Db,
    email: string,
    consumed: { readonly mayCompare: boolean },
    now: number,
  ) => Promise<void>;
  /** 0 means no limit. A resend does not reset wrong attempts, unless they are used up. */
  readonly attemptsPerChallenge: number;
  /** The challenge's own attempts are used up. */
  readonly isExhausted: (challenge: Challenge) => boolean;
  /** Asking again within this time, slightly less than RESEND_SECONDS, gets the same response and sends nothing. */
  readonly resendQuietMs: number;
};

/** @param secrets needed to count e-mail addresses under a pseudonym, so limits outlast an erasure */
export function createCountedLimits(
  config: Pick<Config, 'limits' | 'codeTtlSeconds' | 'resendSeconds'>,
  secrets: Secrets,
): CountedLimits {
  const { leadsPerIpPerHour, leadsPerEmailPerHour, verifyPerIpPerHour, codeAttempts } = config.limits;
  const codeTtlMs = config.codeTtlSeconds * 1000;
  const leadsPerEmailPerDay = leadsPerEmailPerHour * SENDS_PER_DAY_FACTOR;
  const attemptsPerDay = codeAttempts * SHARED_ATTEMPTS_PER_DAY_FACTOR;

  const countUpTo = async (db: Db, key: string, limit: number, windowMs: number, now: number) => {
    if (limit === 0) return ALLOWED;
    const full = await countInWindowUpTo(db, key, { limit, windowMs }, now);
    return full === null ? ALLOWED : exceededUntil(full.endsAt, now);
  };

  const sharedAttempts = (email: string) => {
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
    // Each attempt is counted as tried, and as compared or not compared.
    return {
      tried: windows('attempts without challenge'),
      compared: windows('attempts at live codes'),
      notCompared: windows('attempts at nothing'),
    };
  };

  return {
    countFormOfNetwork: (db, clientAddress, now) =>
      countUpTo(db, `asks: ${networkOf(clientAddress)}`, leadsPerIpPerHour, HOUR_MS, now),

    readCodesSent: (db, email, now) =>
      newestCodesOf(
        db,
        { emails: [email, ...pseudonymsOf(secrets, email)] },
        { unexpiredAt: now - DAY_MS, minLimit: leadsPerEmailPerDay },
        now,
      ),

    checkCodesSent: (codes, now) => {
      if (leadsPerEmailPerHour === 0) return ALLOWED;
      const sent = codes.filter((code) => !isFromFuture(code, now)).slice(0, leadsPerEmailPerDay);
      const oldestInHourLimit = sent[leadsPerEmailPerHour - 1];
      const hourEndsAt = oldestInHourLimit === undefined ? 0 : oldestInHourLimit.created_at + HOUR_MS;
      const dayEndsAt =
        sent.length < leadsPerEmailPerDay
          ? 0
          : sent.reduce((first, { expires_at: end }) => Math.min(first, end), Infinity) + DAY_MS;
      const endsAt = Math.max(hourEndsAt, dayEndsAt);
      return endsAt > now ? exceededUntil(endsAt, now) : ALLOWED;
    },

    countAttemptOfNetwork: (db, clientAddress, now) =>
      countUpTo(db, `tries: ${networkOf(clientAddress)}`, verifyPerIpPerHour, HOUR_MS, now),

    consumeSharedAttempt: async (tx, email, { hasLiveCodes }, now) => {
      if (codeAttempts === 0) return { mayCompare: true, limitIfWrong: ALLOWED };
      const { tried, compared, notCompared } = sharedAttempts(email);
      const [triedNow, triedInADay, comparedNow, comparedInADay] = await readSlidingWindows(
        tx,
        [...tried, ...compared],
        now,
      );
      const mayCompare =
        hasLiveCodes && comparedNow.count < codeAttempts && comparedInADay.count < attemptsPerDay;
      // Writes the same number of rows in either case, so timing reveals nothing.
      await countInSlidingWindows(tx, [...tried, ...(mayCompare ? compared : notCompared)], now);
      const freeAt = Math.max(triedNow.freeAt(codeAttempts), triedInADay.freeAt(attemptsPerDay));
      return { mayCompare, limitIfWrong: freeAt > now ? exceededUntil(freeAt, now) : ALLOWED };
    },

    mayLackSharedAttempts: async (db, email, now) => {
      if (codeAttempts === 0) return false;
      const [triedNow, triedInADay] = await readSlidingWindows(db, sharedAttempts(email).tried, now);
      return triedNow.count > 0 || triedInADay.count >= attemptsPerDay;
    },

    refundSharedAttempt: (tx, email, { mayCompare }, now) => {
      const { tried, compared, notCompared } = sharedAttempts(email);
      return uncountInSlidingWindows(tx, [...tried, ...(mayCompare ? compared : notCompared)], now);
    },

    attemptsPerChallenge: codeAttempts,
    isExhausted: (challenge) =>
      hasCodeOfItsOwn(challenge) && codeAttempts > 0 && challenge.wrong_attempts >= codeAttempts,
    resendQuietMs: config.resendSeconds * 1000 * (1 - RESEND_TOLERANCE_SHARE),
  };
}

export type Limits = CountedLimits & { readonly breaker: Breaker };
