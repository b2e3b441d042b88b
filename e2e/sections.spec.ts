// Landing pages with fewer, more and rearranged sections (testing/other-campaigns.ts).
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

import { bareCampaign, rearrangedCampaign, reversedCampaign } from '#testing/other-campaigns.ts';
import { startSite } from '#testing/start-site.ts';
import { createVisitor, expect, openWithFonts, test } from './fixtures.ts';

/** The page of a campaign, for a visitor. */
async function onSiteOf(campaign: string, page: Page, walk: (url: string) => Promise<void>): Promise<void> {
  const site = await startSite({ campaign });
  try {
    await page.goto(site.url);
    await walk(site.url);
    // From the landing page into the article.
    const visitor = createVisitor(page, site);
    await page.goto(site.url);
    await visitor.openForm();
    await expectNoViolations(page);
    await visitor.fillForm();
    await visitor.sendForm();
    await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
    await visitor.enterCode(await visitor.mailedCode());
    await expect(page.getByRole('article')).toBeVisible();
    // Back is the landing page again, whose sections no script holds.
    await page.getByRole('button', { name: 'Back' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  } finally {
    await site.close();
  }
}

async function expectNoViolations(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`)).toEqual(
    [],
  );
}

async function expectNoViolationsInBothThemes(page: Page): Promise<void> {
  for (const theme of ['dark', 'light']) {
    await page.evaluate((value) => localStorage.setItem('theme', value), theme);
    await page.reload();
    await expect(page.locator('html')).toHaveClass(theme);
    await expectNoViolations(page);
  }
}

const headings = (page: Page) => page.getByRole('main').getByRole('heading', { level: 2 }).allTextContents();

const overflow = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const REARRANGED = [
  'Read by teams at',
  'The Solution',
  'See How It Works',
  'What people ask before they read it',
  "What You'll Learn",
  'Ready to Master AI-Powered Outreach?',
];

test('a page without testimonials, problems and film leads into the article', async ({ page }) => {
  test.slow();
  await onSiteOf(rearrangedCampaign(), page, async () => {
    expect(await headings(page)).toEqual(REARRANGED);
    await expect(page.locator('figure, video')).toHaveCount(0);
    // Each has its name, one of them in letters.
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
    // An answer of two paragraphs.
    await expect(questions.getByRole('listitem').nth(2).getByRole('paragraph')).toHaveCount(2);

    // Icons of the set beside our own, all of lines.
    const icons = page.getByRole('region', { name: "What You'll Learn" }).locator('svg');
    await expect(icons).toHaveCount(6);
    for (const icon of await icons.all())
      expect(await icon.evaluate((svg: SVGSVGElement) => svg.getBBox().width)).toBeGreaterThan(10);

    await expectNoViolationsInBothThemes(page);
    await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
    await expect(page.getByRole('complementary', { name: 'What You Will Have' })).toBeVisible();
    await expect(page.locator('blockquote')).toHaveCount(0);
  });
});

test('answers are there without a script, where a link leads to them, and on paper', async ({ browser }) => {
  const site = await startSite({ campaign: rearrangedCampaign() });
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await context.newPage();
    await page.goto(site.url);
    const answer = page.getByText('Any that follows instructions.');
    await expect(answer).toBeVisible();
    await expect(answer).not.toBeInViewport();
    await page.goto(`${site.url}/#questions`);
    await expect(page.getByRole('heading', { name: 'What people ask before they read it' })).toBeInViewport();
    await page.emulateMedia({ media: 'print' });
    await expect(answer).toBeVisible();
  } finally {
    await context.close();
    await site.close();
  }
});

test('nothing of a rearranged page scrolls sideways at 320 px @layout', async ({ page }) => {
  const site = await startSite({ campaign: rearrangedCampaign() });
  try {
    await page.setViewportSize({ width: 320, height: 640 });
    await openWithFonts(page, site.url);
    expect(await headings(page)).toEqual(REARRANGED);
    expect(await overflow(page)).toBe(0);
  } finally {
    await site.close();
  }
});

test('a page with every section, from the last to the first, plays its film in a section for itself', async ({
  page,
}) => {
  test.slow();
  await onSiteOf(reversedCampaign(), page, async () => {
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
    await expectNoViolationsInBothThemes(page);
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
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});

test('a page with the hero and the closing card alone leads into the article', async ({ page }) => {
  test.slow();
  await onSiteOf(bareCampaign(), page, async () => {
    expect(await headings(page)).toEqual(['Ready to Master AI-Powered Outreach?']);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await overflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await expectNoViolationsInBothThemes(page);
  });
});
