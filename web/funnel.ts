// Tells our server that the form was opened, or how far the article was read: the step and where the visit came from, without
// cookies, once in the life of a page. Nobody waits for it, and nobody hears of it if it fails.
import { API } from '#shared/api.ts';
import type { ToldStep } from '#shared/funnel.ts';
import { visitHeader } from '#web/attribution.ts';

const told = new Set<ToldStep>();

/** Global Privacy Control, which the types do not know, and Do Not Track. */
type Wishes = { readonly globalPrivacyControl?: boolean; readonly doNotTrack: string | null };

/** Tells of a step, unless it was told before or the visitor asked not to be counted. */
export function tell(step: ToldStep): void {
  const wishes: Wishes = navigator;
  if (told.has(step) || wishes.globalPrivacyControl || wishes.doNotTrack === '1') return;
  told.add(step);
  fetch(API.funnel, {
    method: 'POST',
    credentials: 'omit',
    // Whoever reads to the end may close the page at once.
    keepalive: true,
    headers: { 'content-type': 'application/json', ...visitHeader() },
    body: JSON.stringify({ step }),
  }).catch(() => {});
}
