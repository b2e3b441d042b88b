// Without a visit counter, the bundler drops this code.
import { analytics } from '#campaign/site.yaml';
import type { CountedStep } from '#shared/funnel.ts';

declare global {
  var stepsToCount: { readonly push: (step: CountedStep) => unknown } | undefined;
}

export function countStep(step: CountedStep): void {
  if (analytics) (globalThis.stepsToCount ??= [] as CountedStep[]).push(step);
}
