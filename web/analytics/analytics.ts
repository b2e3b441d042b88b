// Tells the operator's visit counter (`analytics` in site.yaml) that the page was seen, and which steps were taken. A file of its own,
// which the boot script fetches when the page and its fonts are there, and only where a campaign has a counter. Whatever goes wrong
// here is the counter's loss: the page neither waits nor notices.
import { analytics, variant } from '#campaign/site.yaml';
import { readTouch } from '#shared/attribution.ts';
import type { CountedStep } from '#shared/funnel.ts';
import { COUNTERS } from '#web/analytics/counters.ts';
import { isPreview } from '#web/variant.ts';
import { asksNotToBeCounted } from '#web/wishes.ts';

/**
 * The address of the page as the counter is told: without a name or an address that the link in a newsletter may have brought along.
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
  const referrer = URL.parse(document.referrer);
  return referrer === null || referrer.host === location.host ? '' : `${referrer.origin}/`;
}

function start(): void {
  if (!analytics || asksNotToBeCounted()) return;
  if (variant && isPreview()) return;
  const visit = { address: ownAddress(), referrer: referringSite() };
  const counter = COUNTERS[analytics.tool](analytics as never, visit);
  const script = document.createElement('script');
  script.src = analytics.script;
  for (const [name, value] of Object.entries(counter.attributes)) script.setAttribute(name, value);
  const told = new Set<CountedStep>();
  const tell = (step: CountedStep) => {
    if (told.has(step)) return;
    told.add(step);
    try {
      counter.tell(step);
    } catch {
      // A counter that another script broke, or that is not what it was said to be.
    }
  };
  script.addEventListener('load', () => {
    const waiting = globalThis.stepsToCount;
    globalThis.stepsToCount = { push: tell };
    tell('seen');
    if (Array.isArray(waiting)) (waiting as CountedStep[]).forEach(tell);
  });
  document.head.append(script);
}

try {
  start();
} catch {
  // As above.
}
