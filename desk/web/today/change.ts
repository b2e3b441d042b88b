export type Change = { readonly direction: 'more' | 'less' | 'same'; readonly by: number };

export function changeOf(now: number | null, before: number | null | undefined): Change | null {
  if (now === null || before === null || before === undefined) return null;
  const by = now - before;
  return { direction: by > 0 ? 'more' : by < 0 ? 'less' : 'same', by: Math.abs(by) };
}

/** From 0 to 1; null if unknown or above 1, because visitors may have seen the page before the period. */
export function shareOf(step: number | null, of: number | null): number | null {
  if (step === null || of === null || of === 0 || step > of) return null;
  return step / of;
}
