// Reports steps to the operator's visit counter (`analytics` in site.yaml). It is a separate file, fetched after the fonts, so a
// broken counter cannot affect the page.
import { analytics, variant } from '#campaign/site.yaml';
import { type CountedStep, readTouch } from '#shared/funnel.ts';
import { COUNTERS } from '#web/analytics/counters.ts';
import { isPreview } from '#web/variant.ts';
import { asksNotToBeCounted } from '#web/privacy-signals.ts';

/** Omits click identifiers and e-mail addresses, which a newsletter may have put in the URL. */
function ownUrl(): string {
  const { origin, pathname, search } = location;
  const touch = Object.entries(readTouch(new URLSearchParams(search)));
  const campaign = new URLSearchParams(touch.filter(([name]) => name.startsWith('utm_'))).toString();
  return origin + pathname + (campaign && `?${campaign}`);
}

function referringSite(): string {
  if (document.referrer === '') return '';
  // Not `origin`, which is "null" for an Android app, such as android-app://com.google.android.gm/.
  const { host, protocol } = new URL(document.referrer);
  return host === location.host ? '' : `${protocol}//${host}/`;
}

function start(): void {
  if (!analytics || asksNotToBeCounted()) return;
  if (variant && isPreview()) return;
  const visit = { url: ownUrl(), referrer: referringSite() };
  const counter = COUNTERS[analytics.tool](analytics as never, visit);
  const script = document.createElement('script');
  script.src = analytics.script;
  for (const [name, value] of Object.entries(counter.attributes)) script.setAttribute(name, value);
  const reported = new Set<CountedStep>();
  const report = (step: CountedStep) => {
    if (reported.has(step)) return;
    reported.add(step);
    try {
      counter.report(step);
    } catch {
      // The script is broken or is not the counter.
    }
  };
  script.addEventListener('load', () => {
    const queued = globalThis.stepsToCount;
    globalThis.stepsToCount = { push: report };
    report('seen');
    if (Array.isArray(queued)) (queued as CountedStep[]).forEach(report);
  });
  document.head.append(script);
}

try {
  start();
} catch {
  // The script is broken or is not the counter.
}
