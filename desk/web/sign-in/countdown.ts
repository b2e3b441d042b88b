/** Whole seconds until a time, never below 0. Both in milliseconds since 1970. */
export const secondsLeft = (until: number, now: number): number =>
  Math.max(0, Math.ceil((until - now) / 1000));
