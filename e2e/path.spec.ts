import type { BrowserContext, Page } from '@playwright/test';

import { campaignUnder } from '#testing/other-campaigns.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { MAIN_SITE } from '#testing/proxies.ts';
import { expect } from './fixtures.ts';
import { testBehind } from './proxy-fixtures.ts';

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

const keptInTab = (page: Page): Promise<string[]> => page.evaluate(() => Object.keys(sessionStorage));

for (const name of ['nginx', 'caddy'] as const) {
  const test = testBehind(name, {
    path: '/guide',
    campaign: campaignUnder('/guide'),
    env: { GUIDE_EMAIL: 'link' },
  });

  test.describe(`page under a path behind ${name}`, () => {
    test.describe.configure({ mode: 'default', timeout: 60_000 });
    test.use({ ignoreHTTPSErrors: true });
    test.skip(findProgram(name) === undefined, notTested(name));

    test('a visitor to a page under a path reaches the article without leaving the path', async ({
      page,
      site,
      context,
      visitor,
    }) => {
      const strays = watchForStrays(context);
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined }));
      const home = `${site.url}/guide/`;

      await page.goto(`${site.url}/guide?utm_source=mail`);
      await expect(page).toHaveURL(`${home}?utm_source=mail`);
      await visitor.openForm();
      await visitor.fillForm();
      await page.reload();
      await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
      expect(await keptInTab(page)).toEqual(
        expect.arrayContaining(['lead-draft/guide', 'first-touch/guide']),
      );
      await page.getByRole('checkbox').check();
      await visitor.sendForm();
      await expect(visitor.codeScreen).toBeVisible();
      await page.reload();
      await expect(visitor.codeScreen).toBeVisible();
      await visitor.openArticle();
      await page.reload();
      await expect(visitor.article).toBeVisible();
      for (const picture of await page.getByRole('article').locator('img').all()) {
        await picture.scrollIntoViewIfNeeded();
        await expect
          .poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth))
          .toBeGreaterThan(0);
      }
      expect(await context.cookies(site.url)).toEqual([]);
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
      expect(strays).toEqual([]);
    });

    test('the links in mail from a page under a path work and stay under it', async ({
      page,
      site,
      context,
      visitor,
    }) => {
      await page.goto(`${site.url}/guide/`);
      await visitor.readArticle();
      const strays = watchForStrays(context);
      const { parsed } = await site.inbox.waitForMail(visitor.email, 2);
      await context.clearCookies();
      await page.goto(linkIn(parsed.text ?? '', 'guide'));
      await expect(visitor.article).toBeVisible();
      await expect(page).toHaveURL(`${site.url}/guide/`);

      await page.goto(linkIn(parsed.text ?? '', 'unsubscribe'));
      await page.getByRole('button').click();
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('You are unsubscribed');
      await page.getByRole('main').getByRole('link').click();
      await expect(page).toHaveURL(`${site.url}/guide/`);
      await expect(visitor.landing).toBeVisible();
      expect(strays).toEqual([]);

      const oneClick = parsed.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
      expect(oneClick).toContain(`<${site.url}/guide/api/unsubscribe?`);
      const link = /<(.+)>/.exec(oneClick)?.[1] ?? '';
      const answer = await page.request.post(link, { form: { 'List-Unsubscribe': 'One-Click' } });
      expect(answer.status()).toBe(200);
    });

    test('an unknown URL under the path shows the 404 page of the campaign', async ({
      page,
      site,
      context,
      expectedErrors,
    }) => {
      expectedErrors.push(/status of 404/);
      const strays = watchForStrays(context);
      const response = await page.goto(`${site.url}/guide/nothing/here`);
      expect(response?.status()).toBe(404);
      await expect(page.getByText('404 Page Not Found', { exact: true })).toBeVisible();
      await page.keyboard.press('Tab');
      await expect
        .poll(() =>
          keptInTab(page).then(() =>
            page.evaluate(() =>
              performance
                .getEntriesByType('resource')
                .some(({ name: url }) => url.includes('/assets/second')),
            ),
          ),
        )
        .toBe(true);
      await expect(page.getByText('404 Page Not Found', { exact: true })).toBeVisible();
      await page.getByRole('main').getByRole('link').click();
      await expect(page).toHaveURL(`${site.url}/guide/`);
      expect(strays).toEqual([]);
      for (const address of ['/', '/guidebook'])
        expect(await (await page.request.get(site.url + address)).text(), address).toBe(MAIN_SITE);
    });

    test('a proxy for a path passes on every header unchanged and once', async ({ page, site, ports }) => {
      for (const [address, status] of [
        ['/guide/', 200],
        ['/guide/fonts/newsreader.woff2', 200],
        ['/guide/api/article', 401],
        ['/guide/nothing', 404],
      ] as const) {
        const direct = await fetch(`http://127.0.0.1:${ports.pages[0]}${address}`);
        const answer = await page.request.get(site.url + address);
        expect(answer.status(), address).toBe(status);
        for (const [header, value] of direct.headers)
          if (
            ![
              'connection',
              'keep-alive',
              'date',
              'x-request-id',
              'content-length',
              'content-encoding',
              'etag',
              'vary',
              'transfer-encoding',
            ].includes(header)
          )
            expect(answer.headers()[header], `${address} ${header}`).toBe(value);
        expect(await answer.text(), address).toBe(await direct.text());
      }
    });

    test('a proxy for a path responds to a form with a sentence while the page is stopped', async ({
      page,
      site,
    }) => {
      expect((await page.request.get(`${site.url}/guide/`)).status()).toBe(200);
      await site.stop();
      const answer = await page.request.post(`${site.url}/guide/api/leads`, { data: {} });
      expect(answer.status()).toBe(503);
      expect(answer.headers()['retry-after']).toBe('5');
      expect(await answer.text()).toBe(
        'This page will be back in a moment. Please try again in a few seconds.',
      );
    });
  });
}
