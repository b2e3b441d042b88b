// Settings that stop each visit counter from storing anything on the device.
import type { Analytics } from '#shared/campaign-schema.ts';
import type { CountedStep } from '#shared/funnel.ts';

type Visit = { readonly url: string; readonly referrer: string };

type Counter = {
  readonly attributes: Readonly<Record<string, string>>;
  readonly report: (step: CountedStep) => void;
};

type Tool = Analytics['tool'];
type Counters = {
  readonly [Name in Tool]: (words: Extract<Analytics, { tool: Name }>, visit: Visit) => Counter;
};

const EVENTS: Readonly<Record<Exclude<CountedStep, 'seen'>, string>> = {
  opened: 'Form opened',
  asked: 'Asked for a code',
  entered: 'Entered it',
};

type Scripts = {
  plausible?: {
    (event: string): void;
    q?: unknown[];
    o?: object;
    init?: (options: object) => void;
  };
  umami?: { readonly track: (fill: (properties: object) => object) => Promise<unknown> };
  _paq?: unknown[];
};

export const COUNTERS: Counters = {
  plausible: (_words, { url, referrer }) => {
    const scripts = globalThis as Scripts;
    const options = {
      // Links and forms may contain e-mail addresses.
      autoCapturePageviews: false,
      outboundLinks: false,
      fileDownloads: false,
      formSubmissions: false,
      logging: false,
      transformRequest: (request: object) => ({ ...request, u: url, r: referrer || null }),
    };
    // Plausible's own stub, which queues calls made before its script loads.
    const queued: unknown[] = [];
    scripts.plausible ??= Object.assign((...call: unknown[]) => void queued.push(call), {
      q: queued,
      init: () => {},
      o: options,
    });
    return {
      attributes: {},
      report: (step) => scripts.plausible?.(step === 'seen' ? 'pageview' : EVENTS[step]),
    };
  },
  umami: ({ script, site }, { url, referrer }) => ({
    attributes: {
      'data-website-id': site,
      'data-auto-track': 'false',
      // Newer versions would store an identifier in localStorage.
      'data-identity-stitching': 'false',
      // By default, Umami Cloud sends data to a host other than its script's.
      'data-host-url': script.slice(0, script.lastIndexOf('/')),
    },
    report: (step) => {
      const { umami } = globalThis as Scripts;
      const event = step === 'seen' ? {} : { name: EVENTS[step] };
      // The browser would report a rejected promise as an error on the page.
      umami?.track((properties) => ({ ...properties, url, referrer, ...event }))?.catch(() => {});
    },
  }),
  matomo: ({ script, site }, { url, referrer }) => {
    const scripts = globalThis as Scripts;
    scripts._paq = [
      ['disableCookies'],
      ['disableBrowserFeatureDetection'],
      // The Content-Security-Policy forbids images from other hosts.
      ['setRequestMethod', 'POST'],
      ['setTrackerUrl', script.replace(/js$/, 'php')],
      ['setSiteId', site],
      ['setCustomUrl', url],
      ['setReferrerUrl', referrer],
    ];
    return {
      attributes: {},
      report: (step) =>
        scripts._paq?.push(step === 'seen' ? ['trackPageView'] : ['trackEvent', 'Funnel', EVENTS[step]]),
    };
  },
};
