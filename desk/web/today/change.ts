// How a figure compares with the time before.

export type Change = { readonly direction: 'more' | 'less' | 'same'; readonly by: number };

/** @returns null where there is nothing to compare with */
export function changeOf(now: number | null, before: number | null | undefined): Change | null {
  if (now === null || before === null || before === undefined) return null;
  const by = now - before;
  return { direction: by > 0 ? 'more' : by < 0 ? 'less' : 'same', by: Math.abs(by) };
}

/** What part of the step before came this far, from 0 to 1; null where that is not known, or would be more than all. */
export function shareOf(step: number | null, of: number | null): number | null {
  if (step === null || of === null || of === 0 || step > of) return null;
  return step / of;
}
