// Every limit on one page: what is counted, over how long, and what it is for. The counts live in the database, so
// all processes share them. Each limit is a setting (server/config.ts) or follows from one; 0 lifts it.
import ipaddr from 'ipaddr.js';

import type { Config } from '#server/config.ts';
import { newestSendTimes } from '#server/db/codes.ts';
import type { Db } from '#server/db/connect.ts';
import {
  countInSlidingWindow,
  countInWindow,
  readSlidingWindow,
  readWindow,
  uncountInSlidingWindow,
  uncountInWindow,
} from '#server/db/limit-windows.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Of what one address may receive: this many times the hourly limit in a day. */
const DAILY_SENDS_PER_HOURLY = 2;
/** Of what may be tried on one address without a challenge of one's own: this many times CODE_ATTEMPTS in a day. */
const DAILY_TRIES_PER_ATTEMPT = 4;
/** Clocks differ and answers take a while: a visitor who presses Resend at zero is not early. */
const RESEND_TOLERANCE_SECONDS = 3;

export type LimitOutcome =
  { readonly type: 'allowed' } | { readonly type: 'exceeded'; readonly retryAfterSeconds: number };

const ALLOWED: LimitOutcome = { type: 'allowed' };

const exceededUntil = (endsAt: number, now: number): LimitOutcome => ({
  type: 'exceeded',
  retryAfterSeconds: Math.max(1, Math.ceil((endsAt - now) / 1000)),
});

export type Limits = {
  /** How often a network may ask for codes: 100 an hour, because offices and phone networks share addresses. */
  readonly askFromNetwork: (db: Db, clientAddress: string, now: number) => Promise<LimitOutcome>;
  /** How many codes an e-mail address is sent, whoever asks: 5 an hour, 10 a day. Read-only: sends are counted. */
  readonly sendToAddress: (db: Db, email: string, now: number) => Promise<LimitOutcome>;
  /** How often a network may enter codes: 300 an hour. */
  readonly verifyFromNetwork: (db: Db, clientAddress: string, now: number) => Promise<LimitOutcome>;
  /**
   * Counts a try that no challenge of its own pays for: 5 while a code lives, and 20 wrong tries a day over all
   * tries on the address. Counted before the comparison.
   */
  readonly tryWithoutChallenge: (db: Db, email: string, now: number) => Promise<LimitOutcome>;
  /** Notes a try paid for by a challenge of its own, for the daily count. It is never refused here. */
  readonly noteTry: (db: Db, email: string, now: number) => Promise<void>;
  /** Whether somebody has used some of the tries that {@link tryWithoutChallenge} counts. */
  readonly isSharedBudgetTouched: (db: Db, email: string, now: number) => Promise<boolean>;
  /** Takes a try back that turned out right. */
  readonly forgiveTry: (db: Db, email: string, now: number, paidBy: 'challenge' | 'address') => Promise<void>;
  /** Wrong tries of one challenge; 0 means without limit. A resend never resets them. */
  readonly triesPerChallenge: number;
  /** Asking again within this time answers as before and sends nothing. Milliseconds. */
  readonly resendQuietMs: number;
};

/** Makes the limits out of the settings. */
export function createLimits(config: Pick<Config, 'limits' | 'codeTtlSeconds' | 'resendSeconds'>): Limits {
  const { leadsPerIpPerHour, leadsPerEmailPerHour, verifyPerIpPerHour, codeAttempts } = config.limits;
  const codeTtlMs = config.codeTtlSeconds * 1000;
  const triesPerDay = codeAttempts * DAILY_TRIES_PER_ATTEMPT;

  const countUpTo = async (db: Db, key: string, limit: number, windowMs: number, now: number) => {
    if (limit === 0) return ALLOWED;
    // Who is over the limit already is refused without a write: a flood of refusals must not cost what it is to protect.
    const before = await readWindow(db, key, now);
    if (before.count >= limit) return exceededUntil(before.endsAt, now);
    const { count, endsAt } = await countInWindow(db, key, windowMs, now);
    return count > limit ? exceededUntil(endsAt, now) : ALLOWED;
  };

  const dailyTries = (email: string) => ({ key: `tries a day: ${email}`, windowMs: DAY_MS });
  const sharedTriesKey = (email: string) => `tries without challenge: ${email}`;

  return {
    askFromNetwork: (db, clientAddress, now) =>
      countUpTo(db, `asks: ${networkOf(clientAddress)}`, leadsPerIpPerHour, HOUR_MS, now),

    sendToAddress: async (db, email, now) => {
      if (leadsPerEmailPerHour === 0) return ALLOWED;
      const leadsPerEmailPerDay = leadsPerEmailPerHour * DAILY_SENDS_PER_HOURLY;
      const sends = await newestSendTimes(db, email, leadsPerEmailPerDay);
      // The window slides: when as many as are allowed lie within it, the oldest of them says when one more may go.
      const ends = [
        { oldest: sends[leadsPerEmailPerHour - 1], windowMs: HOUR_MS },
        { oldest: sends[leadsPerEmailPerDay - 1], windowMs: DAY_MS },
      ].map(({ oldest, windowMs }) => (oldest === undefined ? 0 : oldest + windowMs));
      const endsAt = Math.max(...ends);
      return endsAt > now ? exceededUntil(endsAt, now) : ALLOWED;
    },

    verifyFromNetwork: (db, clientAddress, now) =>
      countUpTo(db, `tries: ${networkOf(clientAddress)}`, verifyPerIpPerHour, HOUR_MS, now),

    tryWithoutChallenge: async (db, email, now) => {
      if (codeAttempts === 0) return ALLOWED;
      const before = await readSlidingWindow(db, dailyTries(email), now);
      if (before.count >= triesPerDay) return exceededUntil(before.endsAt, now);
      const outcome = await countUpTo(db, sharedTriesKey(email), codeAttempts, codeTtlMs, now);
      if (outcome.type === 'exceeded') return outcome;
      await countInSlidingWindow(db, dailyTries(email), now);
      // Read again: calls that came at the same moment have counted as well.
      const after = await readSlidingWindow(db, dailyTries(email), now);
      return after.count > triesPerDay ? exceededUntil(after.endsAt, now) : ALLOWED;
    },

    noteTry: async (db, email, now) => {
      await countInSlidingWindow(db, dailyTries(email), now);
    },

    isSharedBudgetTouched: async (db, email, now) =>
      (await readWindow(db, sharedTriesKey(email), now)).count > 0,

    forgiveTry: async (db, email, now, paidBy) => {
      await uncountInSlidingWindow(db, dailyTries(email), now);
      if (paidBy === 'address') await uncountInWindow(db, sharedTriesKey(email), now);
    },

    triesPerChallenge: codeAttempts,
    resendQuietMs: Math.max(0, config.resendSeconds - RESEND_TOLERANCE_SECONDS) * 1000,
  };
}

/**
 * The network an address is counted under. IPv4: the address itself. IPv6: its /64, the smallest network a
 * subscriber is given (RFC 6177), so that one of them does not have 2^64 addresses to count separately.
 * @param clientAddress as server/http/visitor-address.ts reads it
 */
export function networkOf(clientAddress: string): string {
  // Rows that older versions stored may hold what a proxy made up.
  if (!ipaddr.isValid(clientAddress)) return clientAddress;
  const address = ipaddr.process(clientAddress);
  if (address.kind() === 'ipv4') return address.toString();
  const [network] = ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`)
    .toNormalizedString()
    .split('%');
  return `${network}/64`;
}
