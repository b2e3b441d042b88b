// The resend countdown: how many seconds are left, and what a screen reader is told of them.

/**
 * Whole seconds left, counted so that a 60-second countdown begins with 60 and ends with 0.
 * @param until milliseconds since 1970
 * @param now milliseconds since 1970
 */
export function secondsLeft(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

/** What is shown while it runs (specification, section 4). */
export const countdownText = (seconds: number): string => `Resend in ${seconds} seconds`;

const ANNOUNCED_EVERY_SECONDS = 30;

/** What is announced: not each second, which nobody could listen to, but each half minute and the end. */
export function announcement(seconds: number): string {
  if (seconds === 0) return 'You can ask for a new code now.';
  const rounded = Math.ceil(seconds / ANNOUNCED_EVERY_SECONDS) * ANNOUNCED_EVERY_SECONDS;
  return `You can ask for a new code in ${rounded} seconds.`;
}
