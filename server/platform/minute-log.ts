// Logs events that strangers can trigger at will: the first at once, then a count once a minute.
import { MINUTE_MS } from '#server/platform/time.ts';

export type MinuteLog<What extends string> = {
  readonly note: (what: What) => void;
  readonly close: () => void;
};

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
