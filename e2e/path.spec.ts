import type { BrowserContext } from '@playwright/test';

import { HONEYPOT_FIELD } from '#shared/lead.ts';
import { campaignUnderPath, matomoCampaign } from '#testing/other-campaigns.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { MAIN_SITE, type ProxyName } from '#testing/proxies.ts';
import type { Site } from '#testing/start-site.ts';
import { COUNTER_ORIGIN } from '#testing/visit-counter.ts';
import { createVisitor, expect, expectLoaded, test } from './fixtures.ts';
import { startBehind, type Guides } from './proxy-fixtures.ts';

function watchForStrays(context: BrowserContext): string[] {
  const strays: string[] = [];
  context.on('request', (request) => {
    const { protocol, pathname } = new URL(request.url());
    if (protocol !== 'data:' && pathname !== '/guide' && !pathname.startsWith('/guide/'))
      strays.push(request.url());
  });
  return strays;
}

const linkIn = (text: string, name: 'guide' | 'unsubscribe'): string =>
  new RegExp(`https://\\S+/api/${name}\\?\\S+`).exec(text)?.[0] ?? '';

const GUIDES = Object.entries({ '/guide': campaignUnderPath(), '/other': matomoCampaign() }).map(
  ([sitePath, campaign]) => ({
    urlAt: (port: number) => `https://localhost:${port}${sitePath}`,
    campaign,
    env: { GUIDE_EMAIL: 'link' },
  }),
);

function testPath(name: ProxyName, campaigns: typeof GUIDES, testMore: (guides: () => Guides) => void): void {
  test.describe(`page under a path behind ${name}`, () => {
    // A second worker would start more sites.
    test.describe.configure({ mode: 'default' });
    test.use({ ignoreHTTPSErrors: true });
    test.skip(findProgram(name) === undefined, notTested(name));

    let guides: Guides;
    let site: Site;
    test.beforeAll(async () => {
      guides = await startBehind(name, 'path', campaigns);
      site = guides.sites[0]!;
    });
    test.afterAll(() => guides?.close());

    testMore(() => guides);

    test('an unknown URL under the path shows its 404 page', async ({ page, context, expectedErrors }) => {
      expectedErrors.push(/status of 404/);
      const strays = watchForStrays(context);
      const response = await page.goto(`${site.url}/nothing/here`);
      expect(response?.status()).toBe(404);
      await expect(page.getByText('404 Page Not Found', { exact: true })).toBeVisible();
      await page.keyboard.press('Tab');
      await page.waitForFunction(() =>
        performance.getEntriesByType('resource').some(({ name: url }) => url.includes('/assets/second')),
      );
      await expect(page.getByText('404 Page Not Found', { exact: true })).toBeVisible();
      await page.getByRole('main').getByRole('link').click();
      await expect(page).toHaveURL(`${site.url}/`);
      expect(strays).toEqual([]);
      for (const address of ['/', '/guidebook'])
        expect(await (await page.request.get(new URL(address, site.url).href)).text(), address).toBe(
          MAIN_SITE,
        );
    });

    test('a proxy for a path refuses forms with a sentence while the page is down', async ({ request }) => {
      expect((await request.get(`${site.url}/`)).status()).toBe(200);
      await site.stop();
      const answer = await request.post(`${site.url}/api/leads`, { data: {} });
      expect(answer.status()).toBe(503);
      expect(answer.headers()['retry-after']).toBe('5');
      expect(await answer.text()).toBe(
        'This page will be back in a moment. Please try again in a few seconds.',
      );
    });
  });
}

testPath('nginx', GUIDES, (guides) => {
  test('neither a page under a path nor its mails lead out of it', async ({ page, context }) => {
    const strays = watchForStrays(context);
    await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined }));
    const [site] = guides().sites as [Site, Site];
    const visitor = createVisitor(page, site);
    const home = `${site.url}/`;

    await page.goto(`${site.url}?utm_source=mail`);
    await expect(page).toHaveURL(`${home}?utm_source=mail`);
    await visitor.openForm();
    await visitor.fillForm();
    await page.reload();
    await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
    const kept = await page.evaluate(() => Object.keys(sessionStorage));
    expect(kept).toEqual(expect.arrayContaining(['lead-draft/guide', 'first-touch/guide']));
    await page.getByRole('checkbox').check();
    // The server then asks for a proof of work, whose script must be under the path too.
    await page.locator(`[name=${HONEYPOT_FIELD}]`).evaluate((field: HTMLInputElement) => (field.value = 'x'));
    const proofScript = page.waitForRequest('**/guide/proof-of-work.js');
    await visitor.sendFilledForm();
    await proofScript;
    await page.reload();
    await expect(visitor.codeScreen).toBeVisible();
    await visitor.openArticle();
    await page.reload();
    await expect(visitor.article).toBeVisible();
    for (const picture of await page.getByRole('article').locator('img').all()) {
      await picture.scrollIntoViewIfNeeded();
      await expectLoaded(picture);
    }
    expect(await context.cookies(new URL(site.url).origin)).toEqual([]);
    await page.getByRole('button', { name: 'Share' }).click();
    await expect(visitor.toast).toContainText('Link copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(home);
    await page.goBack();
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(visitor.article).toBeHidden();
    await page.goForward();
    await expect(visitor.article).toBeVisible();
    await page.getByRole('button', { name: 'Back' }).click();
    await expect(visitor.landing).toBeVisible();
    await expect(page).toHaveURL(`${home}?utm_source=mail`);
    await page.getByRole('button', { name: /play/i }).click();
    await expect
      .poll(() => page.locator('video').evaluate((film: HTMLVideoElement) => film.readyState))
      .toBeGreaterThan(1);

    const { parsed } = await site.inbox.waitForMail(visitor.email, 2);
    await context.clearCookies();
    await page.goto(linkIn(parsed.text ?? '', 'guide'));
    await expect(visitor.article).toBeVisible();
    await expect(page).toHaveURL(home);

    await page.goto(linkIn(parsed.text ?? '', 'unsubscribe'));
    await page.getByRole('button').click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('You are unsubscribed');
    await page.getByRole('main').getByRole('link').click();
    await expect(page).toHaveURL(home);
    await expect(visitor.landing).toBeVisible();
    expect(strays).toEqual([]);

    const oneClick = parsed.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
    expect(oneClick).toContain(`<${home}api/unsubscribe?`);
    const link = /<(.+)>/.exec(oneClick)?.[1] ?? '';
    const answer = await page.request.post(link, { form: { 'List-Unsubscribe': 'One-Click' } });
    expect(answer.status()).toBe(200);
  });

  test('two guides under paths of one host keep sessions and typed text apart', async ({ page }) => {
    await page.route(`${COUNTER_ORIGIN}/**`, (route) => route.fulfill({ body: '' }));
    for (const site of guides().sites) {
      await page.goto(`${site.url}/`);
      const visitor = createVisitor(page, site);
      await visitor.openForm();
      await expect(page.getByLabel('Full Name *')).toHaveValue('');
      await visitor.fillForm();
      await page.goto(`${site.url}/`);
      await visitor.readArticle();
    }
    for (const site of guides().sites) {
      expect((await page.request.get(`${site.url}/api/article`)).status()).toBe(200);
      const paths = (await page.context().cookies(`${site.url}/`)).map(({ path }) => path);
      expect([...new Set(paths)]).toEqual([new URL(site.url).pathname]);
    }
  });
});

testPath('caddy', GUIDES.slice(0, 1), (guides) => {
  test('Caddy passes on a whole visit to a page under a path', async ({ page, context }) => {
    const strays = watchForStrays(context);
    const [site] = guides().sites as [Site];
    const visitor = createVisitor(page, site);
    await page.goto(`${site.url}/`);
    await visitor.readArticle();
    await page.reload();
    await expect(visitor.article).toBeVisible();
    expect(strays).toEqual([]);
  });
});
