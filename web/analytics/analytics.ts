// Reports to the operator's visit counter (`analytics` in site.yaml) that the page was seen, and which steps were taken. A separate file,
// which the boot script fetches when the page and its fonts are there, and only where a campaign has a counter. Whatever goes wrong
// here is the counter's loss: the page neither waits nor notices.
import { analytics, variant } from '#campaign/site.yaml';
import { readTouch } from '#shared/attribution.ts';
import type { CountedStep } from '#shared/funnel.ts';
import { COUNTERS } from '#web/analytics/counters.ts';
import { isPreview } from '#web/variant.ts';
import { asksNotToBeCounted } from '#web/wishes.ts';

/**
 * The address of the page for the counter: without a name or an address that the link in a newsletter may have brought along.
 * Click identifiers stay here; they name one person's click.
 */
function ownAddress(): string {
  const { origin, pathname, search } = location;
  const touch = Object.entries(readTouch(new URLSearchParams(search)));
  const campaign = new URLSearchParams(touch.filter(([name]) => name.startsWith('utm_'))).toString();
  return origin + pathname + (campaign && `?${campaign}`);
}

/** The site that linked here, without the page; empty when the browser does not say. */
function referringSite(): string {
  if (document.referrer === '') return '';
  const { host, origin } = new URL(document.referrer);
  return host === location.host ? '' : `${origin}/`;
}

function start(): void {
  if (!analytics || asksNotToBeCounted()) return;
  if (variant && isPreview()) return;
  const visit = { address: ownAddress(), referrer: referringSite() };
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
      // A counter that another script broke, or that is not what it was said to be.
    }
  };
  script.addEventListener('load', () => {
    const waiting = globalThis.stepsToCount;
    globalThis.stepsToCount = { push: report };
    report('seen');
    if (Array.isArray(waiting)) (waiting as CountedStep[]).forEach(report);
  });
  document.head.append(script);
}

try {
  start();
} catch {
  // As above.
}
