// The resend countdown: how many seconds are left, and which of them a screen reader announces.
import type { Interface } from '#shared/campaign-schema.ts';
import { fill, pluralForm } from '#shared/words.ts';

/**
 * Whole seconds left, counted so that a 60-second countdown begins with 60 and ends with 0.
 * @param until milliseconds since 1970
 * @param now milliseconds since 1970
 */
export function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

/** Words of campaign/interface.yaml, and their language. */
export type CountdownWords = Pick<Interface['verification'], 'resendIn' | 'canResendIn' | 'canResendNow'> & {
  readonly language: string;
};

const inSeconds = (words: CountdownWords, entry: 'resendIn' | 'canResendIn', seconds: number): string =>
  fill(pluralForm(words[entry], seconds, words.language), { seconds });

/** What is shown while it runs (specification, section 4). */
export const countdownText = (words: CountdownWords, seconds: number): string =>
  inSeconds(words, 'resendIn', seconds);

const ANNOUNCED_EVERY_SECONDS = 30;
/** How long an announcement stays in the page: a reader must not find 60 seconds beside a countdown that shows 31. */
const ANNOUNCED_FOR_SECONDS = 3;

/** The announcement: each half minute and the end; one a second would be noise. */
export function announcement(words: CountdownWords, seconds: number): string {
  if (seconds === 0) return words.canResendNow;
  const rounded = Math.ceil(seconds / ANNOUNCED_EVERY_SECONDS) * ANNOUNCED_EVERY_SECONDS;
  return rounded - seconds < ANNOUNCED_FOR_SECONDS ? inSeconds(words, 'canResendIn', rounded) : '';
}
