import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import {
  test as base,
  expect,
  type BrowserContext,
  type Locator,
  type Page,
  type Request,
  type Route,
} from '@playwright/test';

import type { Db } from '#server/db/engine/connect.ts';
import { API, CodeRequested } from '#shared/api.ts';
import { openTestDatabase } from '#testing/databases.ts';
import { KEPT_COMPILED } from '#testing/environment.ts';
import { MACHINE_FONTS } from '#testing/fonts.ts';
import type { Box } from '#testing/engines/engine.ts';
import { codeIn, smtpError } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { startSite, type Site, type SiteOptions } from '#testing/start-site.ts';

export { expect };

export type Visitor = {
  readonly page: Page;
  readonly email: string;
  /** Back leads to the landing page. */
  readonly startAtForm: () => Promise<void>;
  readonly startAtFilledForm: (changes?: { readonly email?: string }) => Promise<void>;
  /** Without the form: the request is sent outside the page. Back leads to the form. */
  readonly startAtCode: (changes?: { readonly email?: string }) => Promise<void>;
  /** Without the form and the code screen. */
  readonly startAtArticle: () => Promise<void>;
  readonly openForm: () => Promise<void>;
  readonly fillForm: (changes?: { readonly email?: string }) => Promise<void>;
  readonly sendForm: () => Promise<void>;
  /** From the filled form to the code screen. */
  readonly sendFilledForm: () => Promise<void>;
  /** From the empty form to the code screen. */
  readonly sendValidForm: () => Promise<void>;
  /** From the landing page to the code screen. */
  readonly askForCode: () => Promise<void>;
  /** @param count which of the visitor's mails, 1 by default */
  readonly mailedCode: (count?: number) => Promise<string>;
  readonly enterCode: (code: string) => Promise<void>;
  /** Pastes into the focused element. */
  readonly paste: (text: string) => Promise<void>;
  /** @param code the mailed one by default */
  readonly openArticle: (code?: string) => Promise<void>;
  /** From the landing page to the article. */
  readonly readArticle: () => Promise<void>;
  readonly landing: Locator;
  readonly form: Locator;
  readonly codeScreen: Locator;
  readonly article: Locator;
  readonly box: (number: number) => Locator;
  readonly boxValues: () => Promise<string>;
  readonly toast: Locator;
  /** Its timer stops, as in an inactive window: on a slow machine, a toast would close before a test has looked at it. */
  readonly keepToast: () => Promise<void>;
  readonly closeToast: () => Promise<void>;
};

/** Recipients that the shared site's mail server delays. It always refuses nobody@. */
export const delayed = new Set<string>();

function onRecipient(address: string): Error | null {
  if (address.startsWith('nobody')) return smtpError(550, 'No such user here');
  return delayed.has(address) ? smtpError(451, 'Greylisted, come back later') : null;
}

let visitors = 0;

export function createVisitor(page: Page, site: Site): Visitor {
  visitors += 1;
  const email = `visitor-${process.pid}-${visitors}@example.com`;
  const boxes = page.getByRole('group', { name: '6-digit code' }).getByRole('textbox');
  const post = async (url: string, data: object): Promise<unknown> => {
    const response = await page.context().request.post(site.url + url, { data });
    expect(response.ok(), await response.text()).toBe(true);
    return response.json();
  };
  const requestCode = async (address: string) =>
    CodeRequested.parse(await post(API.leads, filledForm({ email: address })));
  const visitor: Visitor = {
    page,
    email,
    startAtForm: async () => {
      await page.goto(`${site.url}/`);
      await visitor.openForm();
    },
    startAtFilledForm: async (changes) => {
      await visitor.startAtForm();
      await visitor.fillForm(changes);
    },
    startAtCode: async ({ email: address = email } = {}) => {
      const { challengeId } = await requestCode(address);
      // A document without the application, so that the history can be filled first.
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
    sendFilledForm: async () => {
      await visitor.sendForm();
      await expect(visitor.codeScreen).toBeVisible();
    },
    sendValidForm: async () => {
      await visitor.fillForm();
      await visitor.sendFilledForm();
    },
    askForCode: async () => {
      await visitor.openForm();
      await visitor.sendValidForm();
    },
    mailedCode: async (count = 1) => codeIn(await site.inbox.waitForMail(email, count)),
    enterCode: async (code) => {
      await visitor.box(1).focus();
      await page.keyboard.type(code);
    },
    paste: async (text) => {
      await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
      await page.keyboard.press('ControlOrMeta+v');
    },
    openArticle: async (code) => {
      await visitor.enterCode(code ?? (await visitor.mailedCode()));
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
    keepToast: async () => {
      await expect(visitor.toast).toBeVisible();
      await page.evaluate(() => window.dispatchEvent(new Event('blur')));
    },
    closeToast: async () => {
      await visitor.toast.getByRole('button', { name: 'Close notification' }).click();
      await expect(visitor.toast).toHaveCount(0);
    },
  };
  return visitor;
}

/** Headless Chromium identifies itself as a robot, which the server does not count. */
export const COUNTED_BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

const DESK = path.resolve(import.meta.dirname, '..', 'desk', 'desk.ts');

export const runDesk = ({ folder, env }: Site, ...command: readonly string[]): string =>
  execFileSync(process.execPath, [DESK, ...command], {
    env: { INSTANCE_FOLDER: folder, ...KEPT_COMPILED, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });

export async function inDatabase<Result>(
  { folder }: Site,
  work: (db: Db) => Promise<Result>,
): Promise<Result> {
  const file = path.join(folder, 'data', 'leads.db');
  await using database = openTestDatabase({ engine: 'sqlite', file });
  return await work(database.db);
}

export const wrongFor = (code: string): string => (code === '000000' ? '000001' : '000000');

/** @param pathname searched in the URL's path; text is a regular expression, too */
export function requestsTo(page: Page, pathname: string | RegExp): Request[] {
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.search(pathname) >= 0) requests.push(request);
  });
  return requests;
}

export const bodiesOf = (requests: readonly Request[]): unknown[] =>
  requests.map((request): unknown => request.postDataJSON());

/** Steps that the page reports to the server. */
export const reportsOf = (page: Page): Request[] => requestsTo(page, /\/api\/funnel$/);

type MockResponse = NonNullable<Parameters<Route['fulfill']>[0]>;

/**
 * Replaces the server's next responses; null makes the requests fail. The route stays afterwards: while the last route of a page is
 * replaced by another one, Chromium lets requests through.
 */
export async function fulfillNext(
  page: Page,
  url: string,
  response: MockResponse | null,
  times = 1,
): Promise<void> {
  let left = times;
  await page.route(url, (route) => {
    if (left === 0) return route.fallback();
    left -= 1;
    return response ? route.fulfill(response) : route.abort();
  });
}

export async function hold(page: Page, url: string): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await held.promise;
    await route.continue();
  });
  return held.resolve;
}

export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Records each new text of the page's live regions, from the next load on. */
export async function listen(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.addInitScript(() => {
    const LIVE = '[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]';
    const announcements: string[] = [];
    const texts = new WeakMap<Element, string>();
    Object.assign(globalThis, { announcements });
    new MutationObserver(() => {
      for (const region of document.querySelectorAll(LIVE)) {
        if (!region.checkVisibility()) continue;
        const text = (region.textContent ?? '').replace(/\s+/g, ' ').trim();
        if (text !== '' && text !== texts.get(region)) announcements.push(text);
        texts.set(region, text);
      }
    }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
  });
  return () =>
    page.evaluate(() => (globalThis as unknown as { announcements: readonly string[] }).announcements);
}

export async function download(button: Locator): Promise<{ readonly name: string; readonly text: string }> {
  const [file] = await Promise.all([button.page().waitForEvent('download'), button.click()]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

/** Needs an installed clock, which afterwards advances only with `page.clock.runFor`. */
export async function stopClock(page: Page): Promise<void> {
  // In the future, because the clock cannot be set back.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
}

export const loadedFonts = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    Array.from(document.fonts)
      .filter(({ status }) => status === 'loaded')
      .map(({ family }) => family.replaceAll('"', '')),
  );

/** Opens the landing page and starts its application, as a visitor does who moves to the button of the form. */
export async function openStarted(page: Page): Promise<void> {
  await page.goto('/');
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).focus();
  await expect(page.getByRole('region', { name: /^Notifications/ })).toBeAttached();
}

/** On machines without a serif font, fonts that load late move the page, even between press and release. */
export const waitForFonts = (page: Page): Promise<void> =>
  expect.poll(() => loadedFonts(page)).toEqual(expect.arrayContaining(['Newsreader', 'Hanken Grotesk']));

export async function openWithFonts(page: Page, url = '/'): Promise<void> {
  await page.goto(url);
  await waitForFonts(page);
}

/** Sizes in `vw` and elements outside the window change only with the next frame. */
export const nextFrame = (page: Page): Promise<void> =>
  page.evaluate(
    () => new Promise<void>((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn()))),
  );

export async function resize(
  page: Page,
  size: { readonly width: number; readonly height: number },
): Promise<void> {
  await page.setViewportSize(size);
  await nextFrame(page);
}

/** Sets the page's text in its own font, and in the fonts of machines that lack it. */
export async function inEveryFont(page: Page, check: (font: string) => Promise<void>): Promise<void> {
  for (const font of [null, ...MACHINE_FONTS]) {
    await page.evaluate(
      (sans) => document.documentElement.style.setProperty('--sans', sans),
      font && `'${font}', sans-serif`,
    );
    await nextFrame(page);
    await check(font ?? 'own font');
  }
  await page.evaluate(() => document.documentElement.style.removeProperty('--sans'));
}

export const expectLoaded = (picture: Locator, minWidth = 1): Promise<void> =>
  expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThanOrEqual(minWidth);

export const blocksContextMenu = (element: Locator): Promise<boolean> =>
  element.evaluate(
    (target) => !target.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true })),
  );

export async function boxOf(locator: Locator): Promise<Box> {
  const box = await locator.boundingBox();
  if (box === null) throw new Error('The element is not visible.');
  return box;
}

/** Waits for animations, because a moving element may cover less than at rest. */
export async function boxAtRest(locator: Locator): Promise<Box> {
  await locator.evaluate((part) => Promise.all(part.getAnimations().map(({ finished }) => finished)));
  return boxOf(locator);
}

/** Makes the response to the code leave out the article, so the page has to fetch it. */
export const withoutArticle = (page: Page): Promise<unknown> =>
  page.route('**/api/verify', (route) =>
    route.continue({ headers: { ...route.request().headers(), prefer: 'return=minimal' } }),
  );

/** Ignores error responses from the API, because tests provoke them. */
function watchForErrors(context: BrowserContext): string[] {
  const errors: string[] = [];
  context.on('console', (message) => {
    const isApiResponse =
      /Failed to load resource/.test(message.text()) && message.location().url.includes('/api/');
    if (message.type() === 'error' && !isApiResponse)
      errors.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => errors.push(`page: ${error.error().stack ?? error.error().message}`));
  return errors;
}

/** Chromium's headless shell reports a pointer in the corner to every new page. */
export function forgetRestingPointer(): void {
  addEventListener(
    'pointermove',
    (event) => {
      if (event.clientX === 0 && event.clientY === 0) event.stopImmediatePropagation();
    },
    true,
  );
}

type Fixtures = {
  /** Has the default limits, unlike the shared site. */
  readonly startOwnSite: typeof startSite;
  readonly visitor: Visitor;
  /** Add patterns of errors that the test provokes. */
  readonly expectedErrors: RegExp[];
  readonly noErrors: void;
};
type WorkerFixtures = {
  readonly siteOptions: SiteOptions;
  readonly site: Site;
};

export const test = base.extend<Fixtures, WorkerFixtures>({
  siteOptions: [{}, { option: true, scope: 'worker' }],
  site: [
    async ({ siteOptions }, use) => {
      const site = await startSite({
        inbox: { onRecipient },
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
    { scope: 'worker', timeout: 90_000 },
  ],
  baseURL: async ({ site }, use) => use(site.url),
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixture's needs from this pattern
  expectedErrors: async ({}, use) => use([]),
  noErrors: [
    async ({ context, expectedErrors }, use) => {
      const errors = watchForErrors(context);
      await context.addInitScript(forgetRestingPointer);
      await use();
      const unexpected = errors.filter((error) => !expectedErrors.some((pattern) => pattern.test(error)));
      expect(unexpected).toEqual([]);
    },
    { auto: true },
  ],
  startOwnSite: async ({ page }, use) => {
    await using sites = new AsyncDisposableStack();
    await use(async (options) => sites.use(await startSite(options)));
    // A page that still loads pictures would report errors once its site is gone.
    await page.close();
  },
  visitor: async ({ page, site }, use) => {
    await use(createVisitor(page, site));
  },
});
