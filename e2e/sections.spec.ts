import type { Page } from '@playwright/test';

import { bareCampaign, rearrangedCampaign, reversedCampaign } from '#testing/other-campaigns.ts';
import type { Site } from '#testing/start-site.ts';
import { expectNoViolations } from './axe.ts';
import { createVisitor, expect, openWithFonts, overflow, resize, test } from './fixtures.ts';

async function readAndComeBack(page: Page, site: Site): Promise<void> {
  const visitor = createVisitor(page, site);
  await page.goto(site.url);
  await visitor.openForm();
  await expectNoViolations(page, 'the form');
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(visitor.codeScreen).toBeVisible();
  await visitor.openArticle();
  await page.getByRole('button', { name: 'Back' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
}

const headings = (page: Page) => page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents();

const REARRANGED = [
  'Read by teams at',
  'The Solution',
  'See How It Works',
  'What people ask before they read it',
  "What You'll Learn",
  'Ready to Master AI-Powered Outreach?',
];

test('a page without testimonials, problems and film leads to the article', async ({
  page,
  browser,
  startOwnSite,
}) => {
  test.slow();
  const site = await startOwnSite({ campaign: rearrangedCampaign() });
  await page.goto(site.url);
  expect(await headings(page)).toEqual(REARRANGED);
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
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await expect(page.getByRole('complementary', { name: 'What You Will Have' })).toBeVisible();
  await expect(page.locator('blockquote')).toHaveCount(0);
  await readAndComeBack(page, site);

  const withoutScript = await browser.newContext({ javaScriptEnabled: false });
  const plain = await withoutScript.newPage();
  await plain.goto(site.url);
  const answer = plain.getByText('Any that follows instructions.');
  await expect(answer).toBeVisible();
  await expect(answer).not.toBeInViewport();
  await plain.goto(`${site.url}/#questions`);
  await expect(plain.getByRole('heading', { name: 'What people ask before they read it' })).toBeInViewport();
  await plain.emulateMedia({ media: 'print' });
  await expect(answer).toBeVisible();
  await withoutScript.close();
});

test('a rearranged page does not scroll sideways at 320 px', async ({ page, startOwnSite }) => {
  const site = await startOwnSite({ campaign: rearrangedCampaign() });
  await resize(page, { width: 320, height: 640 });
  await openWithFonts(page, site.url);
  expect(await headings(page)).toEqual(REARRANGED);
  expect(await overflow(page)).toBe(0);
});

test('a page with all sections in reverse order plays its film', async ({ page, startOwnSite }) => {
  test.slow();
  const site = await startOwnSite({ campaign: reversedCampaign() });
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
  await resize(page, { width: 1280, height: 800 });
  await readAndComeBack(page, site);
});

test('a page with only the hero and the closing card leads to the article', async ({
  page,
  startOwnSite,
}) => {
  test.slow();
  const site = await startOwnSite({ campaign: bareCampaign() });
  await page.goto(site.url);
  expect(await headings(page)).toEqual(['Ready to Master AI-Powered Outreach?']);
  await resize(page, { width: 320, height: 640 });
  expect(await overflow(page)).toBe(0);
  await resize(page, { width: 1280, height: 800 });
  await expectNoViolations(page, 'the landing page');
  await readAndComeBack(page, site);
});
