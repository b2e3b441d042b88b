import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Locator } from '@playwright/test';

import { renderArticle } from '#server/campaign/article.ts';
import { DEFAULT_CAMPAIGN } from '#testing/built-site.ts';
import { expectNoViolations } from './axe.ts';
import {
  blocksContextMenu,
  boxAtRest,
  expect,
  expectLoaded,
  nextFrame,
  requestsTo,
  resize,
  test,
} from './fixtures.ts';

test('the article page is a preview with three parts', async ({ page, visitor }) => {
  await visitor.startAtArticle();
  const { article } = visitor;
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Master AI-Powered Outreach');
  await expect(page.getByText(/^A \d-minute read$/)).toBeVisible();
  await expect(article.getByRole('heading', { level: 2 })).toHaveCount(3);
  await expect(article).toContainText(
    'Response rate = ICP accuracy + deliverability + content/value + offer strength',
  );
  for (const part of ['Context', 'Role', 'Attributes', 'Facts', 'Target outcome']) {
    await expect(article.getByRole('listitem').filter({ hasText: part })).toHaveCount(1);
  }
  await expect(article).toContainText('The full guide goes on from here');
  const chapters = page.getByRole('region', { name: 'The whole guide' }).getByRole('listitem');
  await expect(chapters).toHaveText([
    'Prompt Generation MasteryRead',
    '5 Core Knowledge BasesOpens next',
    '4 Psychological Drivers',
    'Deliverability Mastery',
    'Campaign Optimisation',
    'Real Case Studies',
  ]);
  await expect(page.getByRole('region', { name: 'Worth passing on?' })).toBeVisible();
  await expect(page.getByRole('button', { name: /PDF|Download/ })).toHaveCount(0);
  await expect(page.getByRole('contentinfo').getByRole('link', { name: 'Privacy Policy' })).toBeVisible();

  const letter = article.locator('.language-letter');
  for (const filter of ['brightness(0.92)', 'none']) {
    await page.getByRole('button', { name: 'Toggle theme' }).click();
    await expect(letter, 'a picture of paper is dimmed in the dark theme').toHaveCSS('filter', filter);
  }

  const prompt = article.getByRole('figure', { name: /Text to copy/ });
  await prompt.getByRole('button', { name: 'Copy' }).click();
  await expect(visitor.toast).toContainText('Copied');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^Context: .*\nRole: .*\nAttributes: .*\nFacts: .*\nTarget outcome: .*\.$/);
});

test('text selection and the context menu are disabled, except for prompts', async ({ page, visitor }) => {
  await visitor.startAtArticle();
  const { article } = visitor;
  await expect(article).toHaveCSS('user-select', 'none');
  await article.locator('p').first().dblclick();
  const selection = () => page.evaluate(() => String(getSelection()));
  expect(await selection()).toBe('');
  expect(await blocksContextMenu(article)).toBe(true);

  for (const clipboard of ['refuses', 'never responds', 'is missing'])
    await test.step(`a prompt is selected for copying if the clipboard ${clipboard}`, async () => {
      await page.evaluate((kind) => {
        getSelection()?.removeAllRanges();
        const writeText = () =>
          kind === 'refuses'
            ? Promise.reject(new DOMException('refused', 'NotAllowedError'))
            : new Promise(() => {});
        const value = kind === 'is missing' ? undefined : { writeText };
        Object.defineProperty(navigator, 'clipboard', { value, configurable: true });
      }, clipboard);
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await expect(visitor.toast).toContainText('Could not copy');
      expect(await selection()).toMatch(/^Context: [^]*\nTarget outcome: /);
      await visitor.closeToast();
    });
});

const STYLED = [
  ['ul', 'list-style-type', 'disc'],
  ['ul ul', 'list-style-type', 'circle'],
  ['ol', 'list-style-type', 'decimal'],
  ['ul ol', 'list-style-type', 'decimal'],
  ['blockquote:not([data-formula])', 'text-align', 'center'],
  ['li > strong', 'font-weight', '600'],
  ['em', 'font-style', 'italic'],
  ['del', 'text-decoration-line', 'line-through'],
  ['a[href="https://dmarc.org"]', 'text-decoration-line', 'underline'],
  ['pre:has(> code:not([class]))', 'white-space-collapse', 'preserve'],
  ['td[align=right]', 'text-align', '-webkit-right'],
  ['img[src$=".svg"]', 'background-color', 'rgb(250, 247, 240)'],
] as const;

test('the article shows every documented Markdown element, styled', async ({ page, visitor }) => {
  const markdown = readFileSync(path.join(DEFAULT_CAMPAIGN, 'article', 'article.md'), 'utf8');
  const nested = '- **bold** point\n  - point below it\n  1. step below it\n\n![A drawing](favicon.svg)\n';
  const article = renderArticle(`${markdown}\n${nested}`, { notes: { title: 'Notes', back: 'Back' } });
  await page.route('**/api/article', (route) => route.fulfill({ json: article }));
  await page.route('**/media/*-640x*', (route) => {
    const file = path.basename(new URL(route.request().url()).pathname);
    return route.fulfill({ path: path.join(DEFAULT_CAMPAIGN, 'media', file) });
  });
  await visitor.startAtArticle();
  for (const selector of [
    'h2',
    'h3',
    'blockquote[data-formula]',
    'a[href^="https://support"]',
    'img[width="640"]',
    'li code',
    'figure code.language-prompt',
    'code.language-letter',
    'table',
    'sup > a',
    'section ol > li',
  ])
    await expect(visitor.article.locator(selector).first(), selector).toBeVisible();
  const look = (selector: string, property: string) =>
    visitor.article
      .locator(selector)
      .first()
      .evaluate((element, css) => getComputedStyle(element).getPropertyValue(css), property);
  for (const [selector, property, value] of STYLED)
    expect(await look(selector, property), selector).toBe(value);
  const pixels = async (selector: string, property: string) =>
    Number.parseFloat(await look(selector, property));
  for (const list of ['ul', 'ol']) expect(await pixels(list, 'padding-inline-start')).toBeGreaterThan(16);
  expect(await pixels('h3', 'margin-top')).toBeGreaterThan(await pixels('h3', 'margin-bottom'));
  for (const picture of await visitor.article.locator('img').all()) {
    await picture.scrollIntoViewIfNeeded();
    await expectLoaded(picture);
  }
});

const LONG = renderArticle(
  `# Guide\n\nA lead.[^1]\n\n${['One', 'Two', 'Three', 'Four', 'Five'].map((name) => `## Part ${name}\n\n${'A line of text.\n\n'.repeat(20)}`).join('')}[^1]: A note.\n`,
  { contents: 'Contents', notes: { title: 'Notes', back: 'Back to the text' } },
);

test('contents and footnotes lead within the article, without a history entry', async ({ page, visitor }) => {
  await page.route('**/api/article', (route) => route.fulfill({ json: LONG }));
  await visitor.startAtArticle();
  const before = await page.evaluate(() => history.length);
  const { article } = visitor;
  const follow = async (name: string, target: Locator) => {
    await article.getByRole('link', { name, exact: true }).press('Enter');
    await expect(target).toBeFocused();
    await expect(target).toBeInViewport();
  };
  const contents = article.getByRole('navigation', { name: 'Contents' });
  await expect(contents.getByRole('link')).toHaveText([
    'Part One',
    'Part Two',
    'Part Three',
    'Part Four',
    'Part Five',
  ]);
  await follow('Part Four', article.getByRole('heading', { name: 'Part Four' }));
  await follow('1', article.getByRole('listitem').filter({ hasText: 'A note.' }));
  await follow('Back to the text', article.getByRole('link', { name: '1', exact: true }));
  expect(await page.evaluate(() => `${history.length} ${location.hash}`)).toBe(`${before} `);
  await expectNoViolations(page, 'a long article');
});

test('reading shows its progress and continues at the last heading', async ({ page, visitor }) => {
  const withNote = LONG?.html.replace('Three</h2>', 'Three<sup><a href="#fn-1">1</a></sup></h2>');
  await page.route('**/api/article', (route) => route.fulfill({ json: { ...LONG, html: withNote } }));
  await visitor.startAtArticle();
  const button = page.getByRole('button', { name: /^Continue where you stopped: Part Three$/ });
  const scrollTo = async (top: number) => {
    await page.evaluate((y) => window.scrollTo(0, y), top);
    await nextFrame(page);
  };
  const place = () => page.evaluate(() => localStorage.getItem('reading-place'));
  const bar = page.getByRole('progressbar', { name: 'Reading progress' });
  await expect(bar).toHaveAttribute('aria-valuemin', '0');
  await expect(bar).toHaveAttribute('aria-valuemax', '100');
  await expect(bar).toHaveAttribute('aria-valuenow', '0');
  await scrollTo(700);
  expect(await place()).toBeNull();
  const heading = visitor.article.getByRole('heading', { name: 'Part Three' });
  await scrollTo(
    await heading.evaluate((element) => element.getBoundingClientRect().top + window.scrollY - 100),
  );
  await expect.poll(place).toBe('section-part-three');
  await expect(button).toHaveCount(0);

  await scrollTo(0);
  await page.reload();
  await expect(button).toBeVisible();
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
  await button.click();
  await expect(heading).toBeFocused();
  await expect(heading).toBeInViewport();

  // Chrome on Android never includes the room of its address bar here, even while the bar is hidden.
  await page.evaluate(() =>
    Object.defineProperty(document.documentElement, 'clientHeight', { value: innerHeight - 56 }),
  );
  const length = await page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
  await scrollTo(length / 2);
  await expect(bar).toHaveAttribute('aria-valuenow', '50');
  await scrollTo(length);
  await expect(bar).toHaveAttribute('aria-valuenow', '100');
  await expect
    .poll(() => bar.locator('div').evaluate((element) => Math.round(element.getBoundingClientRect().width)))
    .toBe(1280);
  await expect.poll(place).toBeNull();
  await page.reload();
  await expect(visitor.article).toBeVisible();
  await expect(page.getByRole('button', { name: /^Continue/ })).toHaveCount(0);
});

test('sharing without a share sheet copies the public link', async ({ page, visitor, site }) => {
  await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined }));
  await visitor.startAtArticle();
  await page.evaluate(() => history.replaceState(history.state, '', '/?utm_source=test'));
  for (const button of [
    page.getByRole('banner').getByRole('button', { name: 'Share' }),
    page.getByRole('region', { name: 'Worth passing on?' }).getByRole('button'),
  ]) {
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await button.click();
    await expect(visitor.toast).toContainText('Link copied');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${site.url}/`);
    await visitor.closeToast();
  }
});

test('the right code opens the article without a further request', async ({ page, visitor }) => {
  const calls = requestsTo(page, /verify|article/);
  const paths = () => calls.map((call) => new URL(call.url()).pathname);
  await resize(page, { width: 375, height: 667 });
  await visitor.startAtCode();
  await visitor.openArticle();
  await expect(visitor.article).toContainText('The full guide goes on from here');
  await expect(visitor.toast).toContainText('Verified!');
  await visitor.keepToast();
  const { y: top } = await boxAtRest(visitor.toast);
  for (const part of [page.getByRole('heading', { level: 1 }), visitor.article.locator('p').first()]) {
    const { y, height } = await boxAtRest(part);
    expect(y + height).toBeLessThanOrEqual(top);
  }
  await page.waitForLoadState('networkidle');
  expect(paths()).toEqual(['/api/verify']);
  await page.reload();
  await expect(visitor.article).toBeVisible();
  expect(paths()).toEqual(['/api/verify', '/api/article']);
});
