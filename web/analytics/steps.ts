// The bundler drops this code if the campaign has no visit counter.
import { analytics } from '#campaign/site.yaml';
import type { CountedStep } from '#shared/funnel.ts';

declare global {
  var stepsToCount: { readonly push: (step: CountedStep) => unknown } | undefined;
}

export function countStep(step: CountedStep): void {
  if (analytics) (globalThis.stepsToCount ??= [] as CountedStep[]).push(step);
}
