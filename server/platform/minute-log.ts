// Logs events that strangers can cause as often as they like: the first at once, then once a minute how many there were.
import { MINUTE_MS } from '#server/platform/time.ts';

export type MinuteLog<What extends string> = {
  /** Counts an event, and logs when it is time. */
  readonly note: (what: What) => void;
  /** Ends it; logs nothing more. */
  readonly close: () => void;
};

/**
 * @param kinds of events; the count of each is logged with the sentence
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
