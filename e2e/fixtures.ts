// What every browser test gets: a running site, a page that may not complain, and a visitor with steps that are named
// like the specification.
import {
  test as base,
  expect,
  type BrowserContext,
  type Locator,
  type Page,
  type Request,
  type Route,
} from '@playwright/test';

import { API, CodeRequested } from '#shared/api.ts';
import { codeIn } from '#testing/inbox.ts';
import { startSite, type Site, type SiteOptions } from '#testing/start-site.ts';

export { expect };

export type Visitor = {
  readonly page: Page;
  readonly email: string;
  /** Begins at the form, which Back leaves for the landing page. */
  readonly startAtForm: () => Promise<void>;
  /** Begins at the code screen, as a reload would; Back leads to the form, and again to the landing page. */
  readonly startAtCode: (changes?: { readonly email?: string }) => Promise<void>;
  /** Begins in the article, with a session. */
  readonly startAtArticle: () => Promise<void>;
  /** From the landing page to the form. */
  readonly openForm: () => Promise<void>;
  readonly fillForm: (changes?: { readonly email?: string }) => Promise<void>;
  readonly sendForm: () => Promise<void>;
  /** From the landing page to the code screen. */
  readonly askForCode: () => Promise<void>;
  /** The code of a mail. @param count which mail to this visitor, from 1; the first if not given */
  readonly mailedCode: (count?: number) => Promise<string>;
  readonly enterCode: (code: string) => Promise<void>;
  /** From the code screen into the article, with the mailed code. */
  readonly openArticle: () => Promise<void>;
  /** From the landing page into the article. */
  readonly readArticle: () => Promise<void>;
  /** The headings of the stages. */
  readonly landing: Locator;
  readonly form: Locator;
  readonly codeScreen: Locator;
  readonly article: Locator;
  /** The code box with this number, from 1. */
  readonly box: (number: number) => Locator;
  readonly boxValues: () => Promise<string>;
  readonly toast: Locator;
  readonly closeToast: () => Promise<void>;
};

let visitors = 0;

/** A visitor on a page of the site. */
export function createVisitor(page: Page, site: Site): Visitor {
  visitors += 1;
  const email = `visitor-${process.pid}-${visitors}@example.com`;
  const boxes = page.getByRole('group', { name: '6-digit code' }).getByRole('textbox');
  const post = async (url: string, data: object): Promise<unknown> => {
    const answer = await page.context().request.post(site.url + url, { data });
    expect(answer.ok(), await answer.text()).toBe(true);
    return answer.json();
  };
  const requestCode = async (address: string) => {
    const lead = { name: 'Ada Lovelace', company: 'Analytical Engines', email: address, consent: true };
    return CodeRequested.parse(await post(API.leads, lead));
  };
  const visitor: Visitor = {
    page,
    email,
    startAtForm: async () => {
      await page.goto(`${site.url}/`);
      await visitor.openForm();
    },
    startAtCode: async ({ email: address = email } = {}) => {
      const { challengeId } = await requestCode(address);
      await page.goto(site.url + API.live);
      await page.evaluate(
        ([id, url]) => {
          history.replaceState({ stage: 'landing' }, '', url);
          history.pushState({ stage: 'form' }, '');
          history.pushState({ stage: 'verification', challengeId: id }, '');
        },
        [challengeId, `${site.url}/`] as const,
      );
      await page.reload();
      await expect(visitor.box(1)).toBeVisible();
    },
    startAtArticle: async () => {
      await requestCode(email);
      await post(API.verify, { email, code: await visitor.mailedCode() });
      await page.goto(`${site.url}/#guide`);
      await expect(visitor.article).toBeVisible();
    },
    openForm: async () => {
      await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
      await expect(visitor.form).toBeVisible();
    },
    fillForm: async ({ email: address = email } = {}) => {
      await page.getByLabel('Full Name *').fill('Ada Lovelace');
      await page.getByLabel('Company Name *').fill('Analytical Engines');
      await page.getByLabel('Work Email *').fill(address);
      await page.getByRole('checkbox').check();
    },
    sendForm: () => page.getByRole('button', { name: 'Send Verification Code' }).click(),
    askForCode: async () => {
      await visitor.openForm();
      await visitor.fillForm();
      await visitor.sendForm();
      await expect(visitor.codeScreen).toBeVisible();
    },
    mailedCode: async (count = 1) => codeIn(await site.inbox.waitForMail(email, count)),
    enterCode: async (code) => {
      await visitor.box(1).focus();
      await page.keyboard.type(code);
    },
    openArticle: async () => {
      await visitor.enterCode(await visitor.mailedCode());
      await expect(visitor.article).toBeVisible();
    },
    readArticle: async () => {
      await visitor.askForCode();
      await visitor.openArticle();
    },
    landing: page.getByRole('heading', { level: 1, name: 'Master AI-Powered Cold Outreach' }),
    form: page.getByRole('heading', { name: 'Get Your Free Copy' }),
    codeScreen: page.getByRole('heading', { name: 'Verify Your Email' }),
    article: page.getByRole('article'),
    box: (number) => boxes.nth(number - 1),
    boxValues: () =>
      boxes.evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value || '_').join('')),
    toast: page.getByRole('region', { name: /^Notifications/ }).getByRole('listitem'),
    closeToast: async () => {
      await visitor.toast.getByRole('button', { name: 'Close notification' }).click();
      await expect(visitor.toast).toHaveCount(0);
    },
  };
  return visitor;
}

/** A code that is certainly not the right one. */
export const wrongFor = (code: string): string => (code === '000000' ? '000001' : '000000');

/** The requests to a path from now on. */
export function requestsTo(page: Page, path: string | RegExp): Request[] {
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.search(path) >= 0) requests.push(request);
  });
  return requests;
}

type Answer = NonNullable<Parameters<Route['fulfill']>[0]>;

/** Answers the next request in place of the server; null: the network fails. */
export const answerOnce = (page: Page, url: string, answer: Answer | null): Promise<unknown> =>
  page.route(url, (route) => (answer ? route.fulfill(answer) : route.abort()), { times: 1 });

/** Holds requests back until the returned function is called. */
export async function hold(page: Page, url: string): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await held.promise;
    await route.continue();
  });
  return held.resolve;
}

/** How far the page can be scrolled sideways, in pixels. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Notes what the page's live regions say from its next load on: each text whenever it becomes another one. */
export async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.addInitScript(() => {
    const LIVE = '[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]';
    const said: string[] = [];
    const texts = new WeakMap<Element, string>();
    Object.assign(globalThis, { said });
    new MutationObserver(() => {
      for (const region of document.querySelectorAll(LIVE)) {
        if (!region.checkVisibility()) continue;
        const text = (region.textContent ?? '').replace(/\s+/g, ' ').trim();
        if (text !== '' && text !== texts.get(region)) said.push(text);
        texts.set(region, text);
      }
    }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { said: readonly string[] }).said);
}

/** Stops the page's clock (installed before); from here on it moves only by `page.clock.runFor`. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
}

/** The families of the page's own faces that have arrived. */
export const loadedFonts = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    Array.from(document.fonts)
      .filter(({ status }) => status === 'loaded')
      .map(({ family }) => family.replaceAll('"', '')),
  );

/** Waits for the page's fonts: on a machine without any serif they move what stands there, also between a press and its release. */
export const waitForFonts = (page: Page): Promise<void> =>
  expect.poll(() => loadedFonts(page)).toEqual(expect.arrayContaining(['Newsreader', 'Hanken Grotesk']));

/**
 * Opens the landing page, and waits for its fonts.
 * @param url of another site than the tests' own
 */
export async function openWithFonts(page: Page, url = '/'): Promise<void> {
  await page.goto(url);
  await waitForFonts(page);
}

export type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

export async function boxOf(locator: Locator): Promise<Box> {
  const box = await locator.boundingBox();
  if (box === null) throw new Error('It is not to be seen.');
  return box;
}

/** Where a part is once it has arrived: on its way, it covers less. */
export async function boxAtRest(locator: Locator): Promise<Box> {
  await locator.evaluate((part) => Promise.all(part.getAnimations().map(({ finished }) => finished)));
  return boxOf(locator);
}

/** Lets the answer to the right code come without the article, as a server of an earlier release gives it: the page fetches it. */
export const withoutArticle = (page: Page): Promise<unknown> =>
  page.route('**/api/verify', (route) =>
    route.continue({ headers: { ...route.request().headers(), prefer: 'return=minimal' } }),
  );

/** Collects what a page complains about. An API error that a test provokes is not a complaint. */
function watchForComplaints(context: BrowserContext): string[] {
  const complaints: string[] = [];
  context.on('console', (message) => {
    const apiAnswer =
      /Failed to load resource/.test(message.text()) && message.location().url.includes('/api/');
    if (message.type() === 'error' && !apiAnswer)
      complaints.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => complaints.push(`page: ${error.error().stack ?? error.error().message}`));
  return complaints;
}

/** Chromium's shell has a pointer that rests in the corner and reports it to every new page, as if a visitor had moved it. */
export function forgetRestingPointer(): void {
  addEventListener(
    'pointermove',
    (event) => {
      if (event.clientX === 0 && event.clientY === 0) event.stopImmediatePropagation();
    },
    true,
  );
}

/** Takes the page's own text face away, and the scaled ones that stand in for it. */
function forceMachineFace(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':root { --sans: sans-serif; }');
  document.adoptedStyleSheets.push(sheet);
}

type Fixtures = {
  /** Whether text is set in the machine's own face, unscaled, as where the page's fonts never arrive. */
  readonly machineFace: boolean;
  readonly visitor: Visitor;
  /** Complaints that a test provokes on purpose, such as a blocked picture. */
  readonly expectedComplaints: RegExp[];
  readonly noComplaints: void;
};
type WorkerFixtures = {
  /** What differs from the site of most tests, such as the campaign. */
  readonly siteOptions: SiteOptions;
  readonly site: Site;
};

export const test = base.extend<Fixtures, WorkerFixtures>({
  siteOptions: [{}, { option: true, scope: 'worker' }],
  site: [
    async ({ siteOptions }, use) => {
      const site = await startSite({
        ...siteOptions,
        env: {
          LEADS_PER_IP_PER_HOUR: '0',
          VERIFY_PER_IP_PER_HOUR: '0',
          RESEND_SECONDS: '0',
          ...siteOptions.env,
        },
      });
      await use(site);
      await site.close();
    },
    // A busy machine takes its time to start it.
    { scope: 'worker', timeout: 90_000 },
  ],
  baseURL: async ({ site }, use) => use(site.url),
  machineFace: [false, { option: true }],
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixture's needs from this pattern
  expectedComplaints: async ({}, use) => use([]),
  noComplaints: [
    async ({ context, machineFace, expectedComplaints }, use) => {
      if (machineFace) await context.addInitScript(forceMachineFace);
      const complaints = watchForComplaints(context);
      await context.addInitScript(forgetRestingPointer);
      await use();
      const unexpected = complaints.filter(
        (complaint) => !expectedComplaints.some((pattern) => pattern.test(complaint)),
      );
      expect(unexpected).toEqual([]);
    },
    { auto: true },
  ],
  visitor: async ({ page, site }, use) => {
    await use(createVisitor(page, site));
  },
});
