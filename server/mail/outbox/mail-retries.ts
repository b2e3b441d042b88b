// When a mail that the mail server put off is tried again.
import { backOffMs } from '#server/platform/queue-worker.ts';

/** Waits before the second try, the third and so on; the last one repeats. A code lives for minutes, so they stay short. */
const WAITS_MS = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000];

/** How long to wait before the next try, in milliseconds. @param attempts tries made so far */
export const mailRetryMs = (attempts: number, random: () => number): number =>
  backOffMs(WAITS_MS, attempts, random);
