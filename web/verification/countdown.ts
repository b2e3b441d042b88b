import type { Interface } from '#shared/campaign-schema.ts';
import { fill, pluralForm } from '#shared/words.ts';

/** Rounds up, so the countdown shows 60 to 0. Takes milliseconds since 1970. */
export function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

export type CountdownWords = Pick<Interface['verification'], 'resendIn' | 'canResendIn' | 'canResendNow'> & {
  readonly language: string;
};

const inSeconds = (words: CountdownWords, entry: 'resendIn' | 'canResendIn', seconds: number): string =>
  fill(pluralForm(words[entry], seconds, words.language), { seconds });

/** Specification, section 4. */
export const countdownText = (words: CountdownWords, seconds: number): string =>
  inSeconds(words, 'resendIn', seconds);

const ANNOUNCED_EVERY_SECONDS = 30;
/** The text is then removed, so a screen reader does not find 60 seconds next to a countdown at 31. */
const ANNOUNCED_FOR_SECONDS = 3;

export function announcement(words: CountdownWords, seconds: number): string {
  if (seconds === 0) return words.canResendNow;
  const rounded = Math.ceil(seconds / ANNOUNCED_EVERY_SECONDS) * ANNOUNCED_EVERY_SECONDS;
  return rounded - seconds < ANNOUNCED_FOR_SECONDS ? inSeconds(words, 'canResendIn', rounded) : '';
}
