// Hands the steps of a visit to the operator's visit counter (analytics.ts), where the campaign has one. Without one, the bundler leaves
// all of this out.
import { analytics } from '#campaign/site.yaml';
import type { CountedStep } from '#shared/funnel.ts';

declare global {
  /** Steps that the counter has not received yet; it takes this list's place when it comes, after the page. */
  var stepsToCount: { readonly push: (step: CountedStep) => unknown } | undefined;
}

/** Notes that a visitor took a step. Nothing about the visitor goes with it. */
export function countStep(step: CountedStep): void {
  if (analytics) (globalThis.stepsToCount ??= [] as CountedStep[]).push(step);
}
