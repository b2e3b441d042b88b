// Reports to our server that the form was opened, or how far the article was read: the step and where the visit came from, without
// cookies, once in the life of a page. Nothing waits for the answer, and a failure is ignored.
import { API } from '#shared/api.ts';
import type { ReportedStep } from '#shared/funnel.ts';
import { visitHeader } from '#web/attribution.ts';

const reported = new Set<ReportedStep>();

/** Global Privacy Control, which the types do not know, and Do Not Track. */
type Wishes = { readonly globalPrivacyControl?: boolean; readonly doNotTrack: string | null };

/** Reports a step, unless it was reported before or the visitor asked not to be counted. */
export function reportStep(step: ReportedStep): void {
  const wishes: Wishes = navigator;
  if (reported.has(step) || wishes.globalPrivacyControl || wishes.doNotTrack === '1') return;
  reported.add(step);
  fetch(API.funnel, {
    method: 'POST',
    credentials: 'omit',
    // A reader who reached the end may close the page at once.
    keepalive: true,
    headers: { 'content-type': 'application/json', ...visitHeader() },
    body: JSON.stringify({ step }),
  }).catch(() => {});
}
