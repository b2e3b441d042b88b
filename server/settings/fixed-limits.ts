// Limits that no setting changes or lifts. Those with a setting are in settings-table.ts; limits/ applies both, as do the places named
// below. Limits that the browser knows too are in shared/lengths-and-resend-seconds.ts, those of requests in http/, the pace of mail in
// jobs/.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';

const SECOND_MS = 1_000;

/**
 * Reports from one network's browsers that a form was opened or an article read (funnel/routes.ts): five per visitor. Counted in
 * each process's memory, for `mostNetworks` networks.
 */
export const REPORTS_FROM_NETWORK = { most: 1_000, windowMs: HOUR_MS, mostNetworks: 10_000 } as const;

/**
 * Lines that the log has for one network's requests in an hour (http/request-log.ts): successful ones, ten times as many as the other limits
 * let through; refused ones, and again failed ones, about 170 kB. Those refused of all networks are five per visitor of a busy hour.
 * Counted in each process's memory.
 */
export const LOG_LINES = {
  answered: 10_000,
  refusedOrFailed: 1_000,
  refusedOrFailedOfAll: 20_000,
  windowMs: HOUR_MS,
  mostNetworks: 10_000,
} as const;

/** Codes to one e-mail address in a day, as a multiple of LEADS_PER_EMAIL_PER_HOUR. */
export const SENDS_PER_DAY_FACTOR = 2;

/**
 * All browsers without a challenge share CODE_ATTEMPTS for an e-mail address in the life of a code, and this multiple of them in a day
 * (docs/decisions/0004).
 */
export const SHARED_ATTEMPTS_PER_DAY_FACTOR = 4;

/** The newest code and the one before it are accepted: a slow e-mail must not strand a visitor who pressed Resend. */
export const ACCEPTED_CODES = 2;

/**
 * Clocks differ and responses take a while: a visitor who presses Resend when the countdown ends is not early, so the server waits for
 * this share of RESEND_SECONDS less.
 */
export const RESEND_TOLERANCE_SHARE = 1 / 20;

/** A mail may wait for this share of a code's life; a form whose mail would wait longer is refused (jobs/mail-jobs.ts). */
export const BACKLOG_SHARE_OF_CODE_LIFE = 1 / 4;

/** How long an opened article stays open: a stolen cookie must not open it for ever. */
export const SESSION_LIFE_MS = 30 * DAY_MS;

/**
 * The proof of work that a code costs while the breaker is open. Some 0.7 s on a desktop, and 3 s on a processor four times
 * slower (docs/decisions/0009). It lives for a while, and pays for one code. Asked for only by the breaker.
 */
export const PROOF_OF_WORK = {
  lifeMs: 5 * MINUTE_MS,
  iterations: 1_000,
  tries: { least: 2_000, most: 4_000 },
} as const;

/**
 * When everybody must pay for a code with a proof of work (docs/decisions/0009). BREAKER_CODES_PER_MINUTE and
 * BREAKER_UNENTERED_PERCENT are its two ceilings.
 */
export const BREAKER = {
  /** How long it stays open; if the reason lasts, it opens again at once. */
  openMs: 10 * MINUTE_MS,
  /** How long one process trusts its last look at the database. */
  lookEveryMs: 2 * SECOND_MS,
  /** No look reads more codes than this, the newest. */
  sample: 2_000,
  /** Strangers per hour that open it, at domains with too few entered codes. */
  manyStrangers: 100,
  /** Surplus strangers at a domain before it counts: a few are chance. */
  notByChance: 10,
  /** A share is meaningful from this many people in a day. */
  dayMin: 25,
  usualDays: 8,
  /** How long one process caches the usual share. */
  usualForMs: 10 * MINUTE_MS,
  /** What a page without a past is measured by. */
  unknownUsualPercent: 40,
  /** "Far above": percentage points over the usual share of people who enter no code. */
  farAbovePercent: 25,
  /** No page's visitors forget this often: an attacker who makes a storm usual must not keep the breaker shut. */
  alwaysTooManyPercent: 90,
  /** Most visitors have entered their code by then. If hardly any have, waiting until it expires is not necessary. */
  earlyMs: 3 * MINUTE_MS,
  /** Of the codes of a busy minute, a network counts for this share at most. */
  minuteShareOfANetwork: 1 / 100,
} as const;

/**
 * When only one network must pay: from this share of its requests per hour on, at addresses that entered nothing.
 * LEADS_PER_IP_PER_HOUR and BREAKER_UNENTERED_PERCENT lift it.
 */
export const FREE_STRANGERS_OF_NETWORK = { share: 1 / 5, least: 5 } as const;

/** How people are weighted for the breaker (breaker.ts), so that no single network or domain bends the count. */
export const WEIGHTS = {
  /** Strangers of a network that count, and people of it who entered a code. */
  mostOfANetwork: 5,
  /** All domains with fewer people than this are judged together. */
  smallDomain: 10,
  /** Entered codes of a small domain that count: the owner of one must not answer for all the others. */
  mostEnteredOfASmallDomain: 3,
} as const;

/**
 * Signing in at the desk (desk/server/auth/sign-in.ts), where a few people come from a few places. Codes live, and asking again is quiet,
 * as for visitors; all windows slide. Nothing lifts these limits, which are alike for addresses in DESK_PEOPLE and for others:
 *
 * - `asksFromNetwork`, and `sendsToAddress` in an hour, `timesInADay` times as many in a day: beyond the latter, the answer is as always,
 *   and nothing is sent.
 * - `unsentAsksOfAll`: asks that send nothing, from everybody, which are kept so that they cannot be told from others. Whoever may
 *   sign in has no part in it, so strangers cannot use up their asks.
 * - `attempts` of one code, or of one that was sent again; of these, the `acceptedCodes` newest work.
 * - `codesFromNetwork`: codes from browsers that asked for none. `passkeysFromNetwork`.
 * - `attemptsInARow`: after this many wrong ones in a row for one person, OPERATOR_EMAIL gets mail.
 * - `notedOfStrangers`: wrong attempts that the audit log keeps of those who are not in DESK_PEOPLE.
 */
export const DESK_SIGN_IN = {
  asksFromNetwork: 30,
  unsentAsksOfAll: 500,
  codesFromNetwork: 60,
  passkeysFromNetwork: 60,
  windowMs: HOUR_MS,
  sendsToAddress: 5,
  timesInADay: 2,
  dayMs: DAY_MS,
  attempts: 5,
  acceptedCodes: 2,
  attemptsInARow: 20,
  inARowMs: 30 * DAY_MS,
  notedOfStrangers: 100,
} as const;

/** How long a session of the desk lasts, and how long the link of `desk open` works. */
export const DESK_SESSION_MS = 12 * HOUR_MS;
export const DESK_LINK_MS = 10 * MINUTE_MS;

/**
 * Open connections (http/connections.ts). Per process: well below what one may have open. Per network: a browser opens up to six and
 * keeps them for 72 s, so this is 80 browsers at once behind one IP address; an office or a phone network with more of them loses idle
 * connections, and no busy one. Ten such networks fill the process. Trusted proxies are exempt.
 */
export const CONNECTIONS = { maxOpen: 5_000, maxPerNetwork: 500 } as const;
