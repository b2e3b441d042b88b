// For what strangers can bring about as often as they like: it is logged at once that it happened, and then once a minute how often.
import { MINUTE_MS } from '#server/platform/time.ts';

export type MinuteLog<What extends string> = {
  /** Counts it, and logs it when it is time. */
  readonly note: (what: What) => void;
  /** Logs nothing more. */
  readonly close: () => void;
};

/**
 * @param kinds what may happen: how often each did stands beside the sentence
 * @param sentence what happened
 */
export function createMinuteLog<What extends string>(
  logger: { readonly warn: (counts: object, sentence: string) => void },
  kinds: readonly What[],
  sentence: string,
): MinuteLog<What> {
  const none = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<What, number>;
  let counts: Record<What, number> | null = null;
  let minute: NodeJS.Timeout | undefined;
  const say = (): void => {
    minute = undefined;
    if (counts === null) return;
    logger.warn(counts, sentence);
    counts = null;
    minute = setTimeout(say, MINUTE_MS).unref();
  };
  return {
    note: (what) => {
      counts ??= { ...none };
      counts[what] += 1;
      if (minute === undefined) say();
    },
    close: () => clearTimeout(minute),
  };
}
