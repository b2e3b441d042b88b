import { variant } from '#campaign/site.yaml';
import { API } from '#shared/api.ts';
import type { ReportedStep } from '#shared/funnel.ts';
import { visitHeader } from '#web/attribution.ts';
import { isPreview, ownVariant } from '#web/variant.ts';
import { asksNotToBeCounted } from '#web/privacy-signals.ts';
import { SITE_PATH } from '#web/site-path.ts';

const reported = new Set<ReportedStep>();

export function reportStep(step: ReportedStep): void {
  if (reported.has(step) || asksNotToBeCounted()) return;
  if (variant && isPreview()) return;
  reported.add(step);
  fetch(SITE_PATH + API.funnel, {
    method: 'POST',
    credentials: 'omit',
    // A reader may close the page right after finishing.
    keepalive: true,
    headers: { 'content-type': 'application/json', ...visitHeader() },
    body: JSON.stringify(variant ? { step, ...ownVariant() } : { step }),
  }).catch(() => {});
}
