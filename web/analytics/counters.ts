// How each visit counter is set up so that it keeps nothing on the visitor's device, and how it receives a step. Each receives the page's
// address and nothing that a visitor typed.
import type { Analytics } from '#shared/campaign-schema.ts';
import type { CountedStep } from '#shared/funnel.ts';

/** What every counter receives about a visit. */
type Visit = { readonly address: string; readonly referrer: string };

type Counter = {
  /** Of the element that loads its script. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Called once its script has run. May throw. */
  readonly report: (step: CountedStep) => void;
};

type Tool = Analytics['tool'];
type Counters = {
  readonly [Name in Tool]: (words: Extract<Analytics, { tool: Name }>, visit: Visit) => Counter;
};

/** The events' names, in the words of `desk report` (desk/report/sentences.ts). The first step is each counter's own page view. */
const EVENTS: Readonly<Record<Exclude<CountedStep, 'seen'>, string>> = {
  opened: 'Form opened',
  asked: 'Asked for a code',
  entered: 'Entered it',
};

/** What the scripts leave in the window. */
type Scripts = {
  plausible?: {
    (event: string): void;
    q?: unknown[];
    o?: object;
    init?: (options: object) => void;
  };
  umami?: { readonly track: (fill: (properties: object) => object) => Promise<unknown> };
  /** Before its script comes, a list; then what takes each call at once. */
  _paq?: unknown[];
};

export const COUNTERS: Counters = {
  plausible: (_words, { address, referrer }) => {
    const scripts = globalThis as Scripts;
    const options = {
      // We say when; and what it could find out besides holds addresses of links.
      autoCapturePageviews: false,
      outboundLinks: false,
      fileDownloads: false,
      formSubmissions: false,
      logging: false,
      transformRequest: (request: object) => ({ ...request, u: address, r: referrer || null }),
    };
    // Plausible's own beginning: what is called before its script comes is kept for it.
    const waiting: unknown[] = [];
    scripts.plausible ??= Object.assign((...call: unknown[]) => void waiting.push(call), {
      q: waiting,
      init: () => {},
      o: options,
    });
    return {
      attributes: {},
      report: (step) => scripts.plausible?.(step === 'seen' ? 'pageview' : EVENTS[step]),
    };
  },
  umami: ({ script, site }, { address, referrer }) => ({
    attributes: {
      'data-website-id': site,
      'data-auto-track': 'false',
      // Newer versions would keep an identifier in localStorage.
      'data-identity-stitching': 'false',
      // Umami's cloud would send to another host than its script's.
      'data-host-url': script.slice(0, script.lastIndexOf('/')),
    },
    report: (step) => {
      const { umami } = globalThis as Scripts;
      const event = step === 'seen' ? {} : { name: EVENTS[step] };
      // It answers with a promise, whose failure would be reported as an error of the page.
      umami?.track((properties) => ({ ...properties, url: address, referrer, ...event }))?.catch(() => {});
    },
  }),
  matomo: ({ script, site }, { address, referrer }) => {
    const scripts = globalThis as Scripts;
    scripts._paq = [
      ['disableCookies'],
      // What the browser can do would distinguish visitors.
      ['disableBrowserFeatureDetection'],
      // Pictures of another host may not be asked for (img-src).
      ['setRequestMethod', 'POST'],
      ['setTrackerUrl', script.replace(/js$/, 'php')],
      ['setSiteId', site],
      ['setCustomUrl', address],
      ['setReferrerUrl', referrer],
    ];
    return {
      attributes: {},
      report: (step) =>
        scripts._paq?.push(step === 'seen' ? ['trackPageView'] : ['trackEvent', 'Funnel', EVENTS[step]]),
    };
  },
};
