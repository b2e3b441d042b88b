// Limits of the desk's sign-ins and sessions. No setting changes them. All windows slide.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';

export const DESK_SIGN_IN = {
  asksFromNetwork: 30,
  codesFromNetwork: 60,
  passkeysFromNetwork: 60,
  windowMs: HOUR_MS,
  /** Codes per e-mail address and hour. Beyond it, the response is the same but nothing is sent. */
  sendsToAddress: 5,
  /** How many times as many are sent per day. */
  timesInADay: 2,
  dayMs: DAY_MS,
  attempts: 5,
  acceptedCodes: 2,
  /** After this many wrong attempts for one person, OPERATOR_EMAIL gets an e-mail. */
  attemptsInARow: 20,
  inARowMs: 30 * DAY_MS,
  /** Unlisted people's wrong attempts in the audit log. */
  notedOfStrangers: 100,
} as const;

export const DESK_SESSION_MS = 12 * HOUR_MS;
export const DESK_LINK_MS = 10 * MINUTE_MS;
