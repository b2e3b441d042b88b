// The scripts here imitate each tool's documented behaviour.
import type { Browser, BrowserContext } from '@playwright/test';

import { matomoCampaign, plausibleCampaign, reversedCampaign } from '#testing/other-campaigns.ts';
import { startSite, type SiteOptions } from '#testing/start-site.ts';
import { COUNTER_ORIGIN, startVisitCounter, UMAMI_SITE, type VisitCounter } from '#testing/visit-counter.ts';
import { createVisitor, expect, test as base } from './fixtures.ts';

type Tool = {
  /** The worker's site by default. */
  readonly site?: () => SiteOptions;
  readonly script: string;
  readonly read: (body: string) => { readonly step: string; readonly address: string };
};

const TOOLS = {
  plausible: {
    script: `{
      const { origin } = new URL(document.currentScript.src);
      const { o: options, q: waiting = [] } = window.plausible;
      const track = (n) => {
        const request = options.transformRequest({ n, u: location.href, r: document.referrer || null });
        fetch(origin + '/api/event', { method: 'POST', keepalive: true, body: JSON.stringify(request) });
      };
      if (options.autoCapturePageviews !== false) track('pageview');
      for (const call of waiting) track(...call);
      window.plausible = track;
    }`,
    read: (body) => {
      const { n, u } = JSON.parse(body) as { n: string; u: string };
      return { step: n, address: u };
    },
  },
  umami: {
    site: () => ({ campaign: reversedCampaign() }),
    script: `{
      const of = (name) => document.currentScript.getAttribute('data-' + name);
      const [host, website] = [of('host-url'), of('website-id')];
      if (of('identity-stitching') !== 'false') localStorage.setItem('umami.visitor', 'someone');
      const send = async (payload) => {
        const response = await fetch(host + '/api/send', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ type: 'event', payload }),
        });
        // The response is not JSON here, so this promise is rejected.
        return response.json();
      };
      const all = { website, url: location.href, referrer: document.referrer, title: document.title };
      window.umami = { track: (fill) => send(fill(all)) };
      if (of('auto-track') !== 'false') send(all);
    }`,
    read: (body) => {
      const { payload } = JSON.parse(body) as { payload: { url: string; name?: string; website: string } };
      expect(payload.website).toBe(UMAMI_SITE);
      return { step: payload.name ?? 'pageview', address: payload.url };
    },
  },
  matomo: {
    site: () => ({ campaign: matomoCampaign(), env: { PUBLIC_URL: 'http://127.0.0.1/other' } }),
    script: `{
      const set = { method: 'GET', url: location.href, cookies: true };
      const send = (request) => {
        const text = new URLSearchParams({ ...request, idsite: set.site, url: set.url, urlref: set.referrer });
        if (set.method === 'POST') fetch(set.tracker, { method: 'POST', keepalive: true, body: text });
        else new Image().src = set.tracker + '?' + text;
        if (set.cookies) document.cookie = '_pk_id=someone';
      };
      const calls = {
        disableCookies: () => (set.cookies = false),
        disableBrowserFeatureDetection: () => {},
        setRequestMethod: (method) => (set.method = method),
        setTrackerUrl: (url) => (set.tracker = url),
        setSiteId: (site) => (set.site = site),
        setCustomUrl: (url) => (set.url = url),
        setReferrerUrl: (url) => (set.referrer = url),
        trackPageView: () => send({ action_name: document.title }),
        trackEvent: (e_c, e_a) => send({ e_c, e_a }),
      };
      const push = (...each) => each.forEach(([name, ...values]) => calls[name](...values));
      push(...window._paq);
      window._paq = { push };
    }`,
    read: (body) => {
      const sent = new URLSearchParams(body);
      expect(sent.get('idsite')).toBe('7');
      return { step: sent.get('e_a') ?? 'pageview', address: sent.get('url') ?? '' };
    },
  },
} as const satisfies Readonly<Record<string, Tool>>;

const STEPS = ['pageview', 'Form opened', 'Asked for a code', 'Entered it'];

const test = base.extend<object, { readonly counter: VisitCounter }>({
  counter: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixture's needs from this pattern
    async ({}, use) => {
      await using counter = await startVisitCounter();
      await use(counter);
    },
    { scope: 'worker' },
  ],
  launchOptions: [
    async ({ counter, launchOptions }, use) =>
      use({ ...launchOptions, args: [...(launchOptions.args ?? []), counter.resolverRule] }),
    { scope: 'worker' },
  ],
});

async function visit(browser: Browser, go: (context: BrowserContext) => Promise<void>): Promise<void> {
  await using context = await browser.newContext({ ignoreHTTPSErrors: true });
  await context.addInitScript(() => Reflect.deleteProperty(URL, 'parse'));
  await go(context);
}

// The tests share a counter, so they run one after another.
test.describe.configure({ mode: 'default', timeout: 180_000 });
test.use({ siteOptions: { campaign: plausibleCampaign() } });

for (const [name, tool] of Object.entries<Tool>(TOOLS)) {
  test(`${name} counts views and steps without personal data`, async ({ browser, counter, site: shared }) => {
    await using own = tool.site ? await startSite(tool.site()) : null;
    const site = own ?? shared;
    counter.serve(tool.script);
    await visit(browser, async (context) => {
      const complaints: string[] = [];
      context.on('console', (line) => void (line.type() === 'error' && complaints.push(line.text())));
      context.on('weberror', (error) => complaints.push(error.error().message));
      const page = await context.newPage();
      const visitor = createVisitor(page, site);
      const response = await page.goto(
        `${site.url}/?utm_source=newsletter&email=${encodeURIComponent(visitor.email)}&gclid=a-click`,
      );
      await expect.poll(() => [counter.sent.length, ...complaints]).toEqual([1]);
      const policy = response?.headers()['content-security-policy']?.split('; ') ?? [];
      expect(
        policy.filter((line) => line.includes(COUNTER_ORIGIN)).map((line) => line.split(' ')[0]),
      ).toEqual(['script-src', 'connect-src']);
      const missing = await page.request.get(`${site.url}/nothing/here`);
      expect(missing.headers()['content-security-policy']).not.toContain(COUNTER_ORIGIN);
      const order = await page.evaluate((origin) => {
        const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
        return {
          painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity,
          fonts: resources.filter((one) => one.name.endsWith('.woff2')).map((one) => one.responseEnd),
          counter: resources.find((one) => one.name.startsWith(origin))?.startTime ?? -1,
        };
      }, COUNTER_ORIGIN);
      expect(order.fonts).toHaveLength(3);
      expect(order.counter).toBeGreaterThan(Math.max(order.painted, ...order.fonts));

      await visitor.askForCode();
      const challengeId = await page.evaluate(() => (history.state as { challengeId: string }).challengeId);
      const code = await visitor.mailedCode();
      await visitor.openArticle(code);
      await expect.poll(() => [counter.sent.length, ...complaints]).toEqual([STEPS.length]);
      await page.getByRole('button', { name: 'Back' }).click();
      await visitor.openForm();
      expect(counter.sent.map(tool.read)).toEqual(
        STEPS.map((step) => ({ step, address: `${site.url}/?utm_source=newsletter` })),
      );

      const everything =
        decodeURIComponent(counter.asked.join('\n').replaceAll('%', '%25')) + counter.asked.join();
      expect(challengeId).toMatch(/.{10}/);
      for (const personal of [
        visitor.email,
        encodeURIComponent(visitor.email),
        'Ada',
        'Lovelace',
        'Analytical',
        challengeId,
        code,
        'a-click',
      ])
        expect(everything).not.toContain(personal);
      expect(everything).not.toContain('"cookie"');
      expect((await context.cookies()).map((cookie) => cookie.name).toSorted()).toEqual([
        'challenge',
        'session',
      ]);
      expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });
}

test('the visit counter gets the referring site or Android app', async ({ browser, counter, site }) => {
  for (const [referrer, sent] of [
    ['https://news.example:8443/issue?reader=7', 'https://news.example:8443/'],
    ['android-app://com.google.android.gm/', 'android-app://com.google.android.gm/'],
  ]) {
    counter.serve(TOOLS.plausible.script);
    await visit(browser, async (context) => {
      await context.addInitScript(
        (value) => Object.defineProperty(document, 'referrer', { value }),
        referrer,
      );
      await (await context.newPage()).goto(site.url);
      await expect
        .poll(() => counter.sent.map((body): unknown => JSON.parse(body)))
        .toMatchObject([{ r: sent }]);
    });
  }
});

test('no visit counter is loaded on the 404 page or after an opt-out', async ({ browser, counter, site }) => {
  counter.serve(TOOLS.plausible.script);
  for (const wish of [
    () => Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }),
    () => Object.defineProperty(navigator, 'doNotTrack', { value: '1' }),
  ])
    await visit(browser, async (context) => {
      await context.addInitScript(wish);
      const page = await context.newPage();
      const fetched = page.waitForResponse(/\/analytics-[\w-]+\.js$/);
      await page.goto(site.url);
      await (await fetched).finished();
      await createVisitor(page, site).openForm();
    });
  await visit(browser, async (context) => {
    const page = await context.newPage();
    await page.goto(`${site.url}/no-such-page`);
    await expect(page.getByText('404 Page Not Found')).toBeVisible();
    await page.evaluate(() => document.fonts.ready);
  });
  expect(counter.asked).toEqual([]);
});

test('the page works if the visit counter does not load or throws', async ({ browser, counter, site }) => {
  for (const [script, goes = 'openForm'] of [
    [null],
    ['throw new Error("The counter broke.");'],
    ['window.plausible = () => { throw new Error("The counter throws."); };', 'readArticle'],
    ['window.plausible = null;'],
  ] as const) {
    counter.serve(script);
    await visit(browser, async (context) => {
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('pageerror', ({ message }) => errors.push(message));
      await page.goto(site.url);
      await expect.poll(() => counter.asked.length).toBeGreaterThan(0);
      await createVisitor(page, site)[goes]();
      expect(errors.filter((message) => !/broke/.test(message))).toEqual([]);
    });
    expect(counter.sent).toEqual([]);
  }
});
