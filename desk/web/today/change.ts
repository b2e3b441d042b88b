/** Null if either figure is unknown. */
export const changeOf = (now: number | null, before: number | null | undefined): number | null =>
  now === null || before === null || before === undefined ? null : now - before;

/** From 0 to 1; null if unknown or above 1, because visitors may have seen the page before the period. */
export function shareOf(step: number | null, of: number | null): number | null {
  if (step === null || of === null || of === 0 || step > of) return null;
  return step / of;
}
