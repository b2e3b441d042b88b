// Reports to our server that the form was opened, or how far the article was read: the step and where the visit came from, without
// cookies, once in the life of a page. Nothing waits for the answer, and a failure is ignored.
import { variant } from '#campaign/site.yaml';
import { API } from '#shared/api.ts';
import type { ReportedStep } from '#shared/funnel.ts';
import { visitHeader } from '#web/attribution.ts';
import { isPreview, ownVariant } from '#web/variant.ts';
import { asksNotToBeCounted } from '#web/wishes.ts';
import { SITE_PATH } from '#web/site-path.ts';

const reported = new Set<ReportedStep>();

/** Reports a step, unless it was reported before or the visitor asked not to be counted. */
export function reportStep(step: ReportedStep): void {
  if (reported.has(step) || asksNotToBeCounted()) return;
  if (variant && isPreview()) return;
  reported.add(step);
  fetch(SITE_PATH + API.funnel, {
    method: 'POST',
    credentials: 'omit',
    // A reader who reached the end may close the page at once.
    keepalive: true,
    headers: { 'content-type': 'application/json', ...visitHeader() },
    body: JSON.stringify(variant ? { step, ...ownVariant() } : { step }),
  }).catch(() => {});
}
