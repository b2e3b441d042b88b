// Limits that no setting changes. Limits with a setting are in settings-table.ts, those for requests are in http/, and the
// pace of mail is in jobs/. The desk's are in desk/server/auth/limits.ts.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';

/**
 * Reports of opened forms and read articles per network (funnel/funnel.ts), about five per visitor. Counted in each process's
 * memory.
 */
export const REPORTS_FROM_NETWORK = { max: 1_000, windowMs: HOUR_MS, maxNetworks: 10_000 } as const;

/** Lines about requests per hour (http/request-log.ts), about 170 bytes each. */
export const LOG_LINES = {
  ofNetwork: 2_000,
  ofAll: 100_000,
  windowMs: HOUR_MS,
  maxNetworks: 10_000,
} as const;

/** Number of codes per e-mail address and day, as a multiple of LEADS_PER_EMAIL_PER_HOUR. */
export const SENDS_PER_DAY_FACTOR = 2;

/**
 * Browsers without their own code share CODE_ATTEMPTS per e-mail address while a code is valid, and this many times
 * CODE_ATTEMPTS per day (decision 0004).
 */
export const SHARED_ATTEMPTS_PER_DAY_FACTOR = 4;

/** The previous code still works, so a slow e-mail isn't useless to a visitor who pressed Resend. */
export const MAX_ACCEPTED_CODES = 2;

/** Clocks differ, so the server accepts Resend early, by this share of RESEND_SECONDS. */
export const RESEND_TOLERANCE_SHARE = 1 / 20;

/** Forms whose mail would wait longer than this share of a code's life are refused (jobs/mail-jobs.ts). */
export const BACKLOG_SHARE_OF_CODE_LIFE = 1 / 4;

/** A stolen cookie must not open the article forever. */
export const SESSION_LIFE_MS = 30 * DAY_MS;

/**
 * The work per code while the breaker is open: about 0.7 s on a desktop, 3 s on a processor four times slower (decision 0009).
 */
export const PROOF_OF_WORK = {
  lifeMs: 5 * MINUTE_MS,
  iterations: 1_000,
  attempts: { min: 2_000, max: 4_000 },
} as const;

/**
 * Conditions under which everybody must do a proof of work (decision 0009), in addition to BREAKER_CODES_PER_MINUTE and
 * BREAKER_UNENTERED_PERCENT.
 */
export const BREAKER = {
  /** If the cause lasts, the breaker opens again immediately. */
  openMs: 10 * MINUTE_MS,
  checkEveryMs: 2_000,
  /** Number of newest codes read per check. */
  sample: 2_000,
  /** The breaker opens at this number of unconfirmed recipients per hour, at domains where too few codes are entered. */
  opensAtUnconfirmed: 100,
  /** A smaller surplus of unconfirmed recipients at a domain is due to chance. */
  minSurplus: 10,
  /** The share among fewer recipients per day is due to chance. */
  minRecipientsPerDay: 25,
  usualDays: 8,
  /** How long a process caches the thresholds. */
  thresholdCacheMs: 10 * MINUTE_MS,
  unknownUsualPercent: 40,
  /** Percentage points above the usual share of unconfirmed recipients. */
  farAbovePercent: 25,
  /** No normal page reaches this share, so an attacker cannot keep the breaker closed by making a list bomb look usual. */
  extremePercent: 90,
  /** By this age of a code, most visitors have entered it. */
  minCodeAgeMs: 3 * MINUTE_MS,
  /** Maximum share of a minute's codes counted for one network. */
  minuteShareOfANetwork: 1 / 100,
} as const;

/**
 * If a network requests codes for more unconfirmed recipients than this share of its hourly limit, only that network must do the
 * work. Disabled if LEADS_PER_IP_PER_HOUR or BREAKER_UNENTERED_PERCENT is 0.
 */
export const FREE_ALLOWANCE_OF_NETWORK = { share: 1 / 5, min: 5 } as const;

export const WEIGHTS = {
  /** Counted unconfirmed recipients per network, and counted confirmed ones. */
  maxPerNetwork: 5,
  /** Smaller domains are judged together. */
  smallDomain: 10,
  /** Counted confirmed recipients per small domain, so its owner cannot outweigh the others. */
  maxConfirmedPerSmallDomain: 3,
} as const;

/**
 * A browser opens up to six connections for 72 s, so 500 are enough for 80 browsers at one IP address. Beyond that, only idle
 * connections are closed. Trusted proxies are exempt.
 */
export const CONNECTIONS = { maxOpen: 5_000, maxPerNetwork: 500 } as const;
