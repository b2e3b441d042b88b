import type { Page } from '@playwright/test';

import {
  AFTER_CODE,
  bareCampaign,
  DOWNLOAD,
  rearrangedCampaign,
  reversedCampaign,
} from '#testing/other-campaigns.ts';
import { startSite, type Site } from '#testing/start-site.ts';
import { COUNTER_ORIGIN } from '#testing/visit-counter.ts';
import { expectNoViolations } from './axe.ts';
import {
  boxOf,
  createVisitor,
  download,
  expect,
  inEveryFont,
  openWithFonts,
  overflow,
  resize,
  test,
} from './fixtures.ts';

const headings = (page: Page) => page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents();

test.describe('rearranged page', () => {
  // A second worker would start another site.
  test.describe.configure({ mode: 'default' });

  let site: Site;
  test.beforeAll(async () => {
    site = await startSite({ campaign: rearrangedCampaign() });
  });
  test.afterAll(() => site?.close());

  test('a page with fewer sections is complete, even without scripts', async ({ page, browser }) => {
    await openWithFonts(page, site.url);
    expect(await headings(page)).toEqual([
      'Read by teams at',
      'The Solution',
      'See How It Works',
      'What people ask before they read it',
      "What You'll Learn",
      'Ready to Master AI-Powered Outreach?',
    ]);
    await expect(page.locator('figure, video')).toHaveCount(0);
    const logos = page.getByRole('region', { name: 'Read by teams at' }).getByRole('listitem');
    await expect(logos).toHaveCount(4);
    await expect(logos.getByRole('img', { name: 'Fieldstone & Partners' })).toBeVisible();
    await expect(logos.last()).toHaveText('Ostrava Dynamics');
    const sizes = await logos.locator('img').evaluateAll((images) =>
      images.map((image) => {
        const { naturalWidth, naturalHeight } = image as HTMLImageElement;
        const { width, height } = image.getBoundingClientRect();
        return {
          isThere: naturalWidth > 0,
          stretched: (naturalWidth * height) / (naturalHeight * width),
          height,
        };
      }),
    );
    for (const { isThere, stretched, height } of sizes) {
      expect(isThere).toBe(true);
      expect(stretched).toBeCloseTo(1, 1);
      expect(height).toBeLessThanOrEqual(44);
    }

    const questions = page.getByRole('region', { name: 'What people ask before they read it' });
    await expect(questions.getByRole('heading', { level: 3 })).toHaveText([
      'Is it really free?',
      'How often will you write to me?',
      'Does it work for teams that sell in more than one language?',
      'Which model do I need?',
    ]);
    await expect(questions.getByRole('listitem').nth(2).getByRole('paragraph')).toHaveCount(2);

    const icons = page.getByRole('region', { name: "What You'll Learn" }).locator('svg');
    await expect(icons).toHaveCount(6);
    for (const icon of await icons.all())
      expect(await icon.evaluate((svg: SVGSVGElement) => svg.getBBox().width)).toBeGreaterThan(10);

    await expectNoViolations(page, 'the landing page');
    await resize(page, { width: 320, height: 640 });
    await inEveryFont(page, async (font) => expect(await overflow(page), font).toBe(0));

    await using withoutScript = await browser.newContext({ javaScriptEnabled: false });
    const plain = await withoutScript.newPage();
    await plain.goto(site.url);
    const answer = plain.getByText('Any that follows instructions.');
    await expect(answer).toBeVisible();
    await expect(answer).not.toBeInViewport();
    await plain.goto(`${site.url}/#questions`);
    await expect(
      plain.getByRole('heading', { name: 'What people ask before they read it' }),
    ).toBeInViewport();
    await plain.emulateMedia({ media: 'print' });
    await expect(answer).toBeVisible();
  });

  test('afterCode opens another page, and Back leads to the article', async ({ page, context }) => {
    await page.route(AFTER_CODE, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>Shop</title><h1>Thank you</h1>' }),
    );
    const visitor = createVisitor(page, site);
    await visitor.startAtForm();
    await expect(page.getByRole('complementary', { name: 'What You Will Have' })).toBeVisible();
    await expect(page.locator('blockquote')).toHaveCount(0);
    await expectNoViolations(page, 'the form');
    await visitor.sendValidForm();
    await visitor.enterCode(await visitor.mailedCode());
    await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible();
    expect(page.url()).toBe(AFTER_CODE);

    await page.goBack();
    await expect(visitor.article).toBeVisible();
    const end = page.getByRole('link', { name: 'Book a call' });
    await expect(end).toHaveAttribute('href', 'https://example.com/call');
    await expect(page.getByText('Worth passing on?')).toHaveCount(0);
    const share = page.getByRole('button', { name: 'Send it to a colleague' });
    const colourOf = (one: typeof end) =>
      one.evaluate((element) => getComputedStyle(element).backgroundColor);
    expect(await colourOf(end)).not.toBe(await colourOf(share));

    const button = page.getByRole('button', { name: 'Download as PDF' });
    expect(await download(button)).toEqual({ name: 'the-guide.pdf', text: DOWNLOAD });
    await expect(visitor.article).toBeVisible();
    await context.setOffline(true);
    await button.click();
    await expect(visitor.toast.filter({ hasText: 'Download as PDF' })).toContainText('could not be loaded');
    await context.setOffline(false);
    await context.clearCookies();
    await button.click();
    await expect(page.getByRole('alert')).toContainText('Your access has ended');
    await page.getByRole('button', { name: 'Get a new code' }).click();
    await expect(visitor.form).toBeVisible();
  });

  test('a page with noindex tells every robot not to index it', async ({ request }) => {
    const get = (url: string) => request.get(site.url + url);
    for (const url of ['/', '/no-such-page']) {
      const answer = await get(url);
      expect(answer.headers()['x-robots-tag'], url).toBe('noindex');
      expect((await answer.text()).match(/<meta name="robots"[^>]*>/g), url).toEqual([
        '<meta name="robots" content="noindex">',
      ]);
    }
    expect((await get('/media/og.png')).headers()['x-robots-tag']).toBe('noindex');
    expect(await (await get('/robots.txt')).text()).toBe('User-agent: *\nDisallow: /api/\n');
    expect((await get('/sitemap.xml')).status()).toBe(404);
  });
});

test('a page with all sections in reverse order plays its film', async ({ page, startOwnSite }) => {
  const site = await startOwnSite({ campaign: reversedCampaign() });
  await page.route(`${COUNTER_ORIGIN}/**`, (route) => route.fulfill({ body: '' }));
  await page.goto(site.url);
  expect(await headings(page)).toEqual([
    'What people ask before they read it',
    'Proven Results From Real Teams',
    'The Solution',
    'Why Most Cold Outreach Fails',
    'See How It Works',
    "What You'll Learn",
    'Read by teams at',
    'Ready to Master AI-Powered Outreach?',
  ]);
  await expectNoViolations(page, 'the landing page');
  const film = page.getByRole('region', { name: 'See How It Works, the film' });
  await expect(film.getByRole('heading')).toHaveCount(0);
  const comesBeforePoints = await film.evaluate(
    (section) =>
      (section.compareDocumentPosition(document.getElementById('how-it-works')!) &
        Node.DOCUMENT_POSITION_FOLLOWING) !==
      0,
  );
  expect(comesBeforePoints).toBe(true);
  await film.getByRole('button', { name: 'Play video' }).click();
  await expect
    .poll(() => film.locator('video').evaluate((video: HTMLVideoElement) => video.currentTime))
    .toBeGreaterThan(0);
  await resize(page, { width: 320, height: 640 });
  expect(await overflow(page)).toBe(0);
});

test('a footer link on the form leads to its section, and Back returns', async ({ page, startOwnSite }) => {
  const site = await startOwnSite({ campaign: reversedCampaign() });
  await page.route(`${COUNTER_ORIGIN}/**`, (route) => route.fulfill({ body: '' }));
  const visitor = createVisitor(page, site);
  await visitor.startAtFilledForm();
  await page.getByRole('link', { name: 'Privacy Policy' }).click();
  const section = page.getByRole('heading', { name: 'What people ask before they read it' });
  await expect(section).toBeFocused();
  await expect(section).toBeInViewport();
  expect((await boxOf(section)).y).toBeLessThan(200);
  await page.goBack();
  await expect(page.getByLabel('Work Email *')).toHaveValue(visitor.email);
  await page.goForward();
  await expect(visitor.landing).toBeVisible();
});

test('a page with only hero and closing card leads to the article', async ({ page, startOwnSite }) => {
  const site = await startOwnSite({ campaign: bareCampaign() });
  await page.goto(site.url);
  expect(await headings(page)).toEqual(['Ready to Master AI-Powered Outreach?']);
  await resize(page, { width: 320, height: 640 });
  expect(await overflow(page)).toBe(0);
  await resize(page, { width: 1280, height: 800 });
  await expectNoViolations(page, 'the landing page');
  await createVisitor(page, site).readArticle();
  await page.getByRole('button', { name: 'Back' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
});
