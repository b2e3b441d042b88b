import { renderArticle } from '#server/campaign/render-article.ts';

import { expect, stopClock, test, withoutArticle } from './fixtures.ts';

test('the article is a preview with its three parts', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.readArticle();
  const article = page.getByRole('article');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Master AI-Powered Outreach');
  await expect(article.getByRole('heading', { level: 2 })).toHaveCount(3);
  await expect(article).toContainText(
    'Response rate = ICP accuracy + deliverability + content/value + offer strength',
  );
  for (const part of ['Context', 'Role', 'Attributes', 'Facts', 'Target outcome']) {
    await expect(article.getByRole('listitem').filter({ hasText: part })).toHaveCount(1);
  }
  await expect(article).toContainText('The full guide goes on from here');
});

test('a tooltip opens at once within 300 ms of another one, and after 700 ms later', async ({
  page,
  visitor,
}) => {
  await page.clock.install();
  await page.goto('/');
  await visitor.readArticle();
  const back = page.getByRole('button', { name: 'Back', exact: true });
  const share = page.getByRole('banner').getByRole('button', { name: 'Share', exact: true });
  const tooltip = page.getByRole('tooltip');
  const rest = async () => {
    // In steps: leaving alone closes no tooltip, as the pointer may be on its way to it.
    await page.mouse.move(300, 400, { steps: 3 });
    await expect(tooltip).toHaveCount(0);
  };
  await back.hover();
  await expect(tooltip).toHaveText('Back to the first page');
  await stopClock(page);
  await rest();
  await page.clock.runFor(299);
  await share.hover();
  await expect(tooltip).toHaveText('Share this guide');
  await rest();
  await page.clock.runFor(301);
  await back.hover();
  await page.clock.runFor(699);
  await expect(tooltip).toHaveCount(0);
  await page.clock.runFor(2);
  await expect(tooltip).toHaveText('Back to the first page');
});

test('selection and context menu are off', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.readArticle();
  const article = page.getByRole('article');
  expect(await article.evaluate((element) => getComputedStyle(element).userSelect)).toBe('none');
  await article.locator('p').first().dblclick();
  expect(await page.evaluate(() => getSelection()?.toString())).toBe('');
  const blocked = await article.evaluate((element) => {
    const event = new MouseEvent('contextmenu', { bubbles: true, cancelable: true });
    element.dispatchEvent(event);
    return event.defaultPrevented;
  });
  expect(blocked).toBe(true);
});

test('the page says how long the article takes, and its prompt can be copied whole', async ({
  page,
  visitor,
  context,
  site,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.url });
  await page.goto('/');
  await visitor.readArticle();
  await expect(page.getByText(/^A \d-minute read$/)).toBeVisible();
  const prompt = page.getByRole('article').getByRole('figure', { name: /A prompt to copy/ });
  await prompt.getByRole('button', { name: 'Copy' }).click();
  await expect(visitor.toast).toContainText('Copied');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^Context: .*\nRole: .*\nAttributes: .*\nFacts: .*\nTarget outcome: .*\.$/);
});

for (const [what, clipboard] of [
  ['is refused', { writeText: 'refuse' }],
  ['never answers', { writeText: 'wait' }],
  ['is missing', null],
] as const)
  test(`where the clipboard ${what}, the prompt is selected, and the notification says so`, async ({
    page,
    visitor,
  }) => {
    await page.addInitScript((kind) => {
      const writeText = () =>
        kind === 'wait'
          ? new Promise(() => {})
          : Promise.reject(new DOMException('refused', 'NotAllowedError'));
      Object.defineProperty(navigator, 'clipboard', { value: kind ? { writeText } : undefined });
    }, clipboard?.writeText ?? null);
    await page.goto('/');
    await visitor.readArticle();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await expect(visitor.toast).toContainText('Could not copy');
    expect(await page.evaluate(() => String(getSelection()))).toMatch(/^Context: [^]*\nTarget outcome: /);
  });

test('every element of Markdown that the documents name has a look of its own', async ({ page, visitor }) => {
  const article = renderArticle(`# Guide

A lead.

## Section

### Part

- point
  - point below it

1. step

> A sentence

**bold** *emphasis* ~~struck~~ [link](https://example.com)

\`\`\`
code
\`\`\`

| a | b |
| --- | --: |
| 1 | 2 |
`);
  await page.route('**/api/verify', (route) => route.fulfill({ json: { verified: true, article } }));
  await page.goto('/');
  await visitor.askForCode();
  await visitor.enterCode('123456');
  const look = (selector: string, property: string) =>
    page
      .getByRole('article')
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
  for (const [selector, property, value] of [
    ['ul', 'list-style-type', 'disc'],
    ['ul ul', 'list-style-type', 'circle'],
    ['ol', 'list-style-type', 'decimal'],
    ['blockquote', 'text-align', 'center'],
    ['strong', 'font-weight', '600'],
    ['em', 'font-style', 'italic'],
    ['del', 'text-decoration-line', 'line-through'],
    ['a', 'text-decoration-line', 'underline'],
    ['pre', 'white-space-collapse', 'preserve'],
    ['td:last-child', 'text-align', '-webkit-right'],
  ] as const)
    expect(await look(selector, property), selector).toBe(value);
  // A bullet stands outside of its text, inside the page.
  for (const list of ['ul', 'ol'])
    expect(Number.parseFloat(await look(list, 'padding-inline-start'))).toBeGreaterThan(16);
  expect(Number.parseFloat(await look('h3', 'margin-top'))).toBeGreaterThan(
    Number.parseFloat(await look('h3', 'margin-bottom')),
  );
});

for (const width of [320, 375, 768, 1440])
  test(`at ${width} px no line of the formula ends with a sign`, async ({ page, visitor }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.goto('/');
    await visitor.readArticle();
    const lines = await page
      .getByRole('article')
      .locator('blockquote')
      .evaluate((quote) => {
        const words: { readonly text: string; readonly line: number }[] = [];
        const walker = document.createTreeWalker(quote, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const node = walker.currentNode as Text;
          for (const match of node.data.matchAll(/\S+/g)) {
            const range = document.createRange();
            range.setStart(node, match.index);
            range.setEnd(node, match.index + match[0].length);
            words.push({ text: match[0], line: Math.round(range.getBoundingClientRect().bottom) });
          }
        }
        return Array.from(Map.groupBy(words, ({ line }) => line).values(), (line) =>
          line.map(({ text }) => text).join(' '),
        );
      });
    expect(lines.join(' ')).toBe(
      'Response rate = ICP accuracy + deliverability + content/value + offer strength',
    );
    for (const line of lines) expect(line).not.toMatch(/[=+]$/);
  });

test('the progress bar follows the reading from 0 to 100 percent', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.readArticle();
  const bar = page.getByRole('progressbar', { name: 'Reading progress' });
  await expect(bar).toHaveAttribute('aria-valuemin', '0');
  await expect(bar).toHaveAttribute('aria-valuemax', '100');
  await expect(bar).toHaveAttribute('aria-valuenow', '0');
  const scrollTo = (part: number) =>
    page.evaluate((value) => {
      const root = document.documentElement;
      window.scrollTo({ top: (root.scrollHeight - root.clientHeight) * value, behavior: 'instant' });
    }, part);
  await scrollTo(0.5);
  await expect(bar).toHaveAttribute('aria-valuenow', '50');
  await scrollTo(1);
  await expect(bar).toHaveAttribute('aria-valuenow', '100');
  expect(
    await bar.locator('div').evaluate((element) => Math.round(element.getBoundingClientRect().width)),
  ).toBe(1280);
});

test('sharing copies the public link where there is no share sheet', async ({
  page,
  visitor,
  context,
  site,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined }));
  await page.goto('/?utm_source=test');
  await visitor.readArticle();
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(visitor.toast).toContainText('Link copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${site.url}/`);
});

test('the article text is in no public file', async ({ page, visitor, site }) => {
  const bodies: string[] = [];
  page.on('response', async (response) => {
    if (response.url().includes('/api/article') || /media|fonts/.test(response.url())) return;
    bodies.push(await response.text().catch(() => ''));
  });
  await page.goto('/');
  await visitor.openForm();
  await page.waitForLoadState('networkidle');
  expect(bodies.join('').length).toBeGreaterThan(100_000);
  expect(bodies.join('')).not.toContain('cold email is a stranger');
  for (const path of [
    '/content/article/article.md',
    '/article.md',
    '/api/article',
    '/../campaign/article/article.md',
  ]) {
    const response = await page.request.get(`${site.url}${path}`, { failOnStatusCode: false });
    expect(response.status()).toBeGreaterThanOrEqual(400);
    expect(await response.text()).not.toContain('cold email is a stranger');
  }
});

test('a session that ended says so and leads to a new code', async ({ page, visitor, context }) => {
  await page.goto('/');
  await visitor.readArticle();
  await context.clearCookies();
  await page.reload();
  await expect(page.getByText('Your access has ended.')).toBeVisible();
  await expect(page.getByRole('progressbar', { name: 'Reading progress' })).toHaveAttribute(
    'aria-valuenow',
    '0',
  );
  await page.getByRole('button', { name: 'Get a new code' }).click();
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
});

test('the article comes along with the answer to the right code, and is fetched after a reload alone', async ({
  page,
  visitor,
}) => {
  const calls: string[] = [];
  page.on('request', (request) => {
    if (/verify|article/.test(request.url())) calls.push(new URL(request.url()).pathname);
  });
  await page.goto('/');
  await visitor.readArticle();
  await expect(page.getByRole('article')).toContainText('The full guide goes on from here');
  await page.waitForLoadState('networkidle');
  expect(calls).toEqual(['/api/verify']);
  await page.reload();
  await expect(page.getByRole('article')).toBeVisible();
  expect(calls).toEqual(['/api/verify', '/api/article']);
});

for (const body of ['{"verified":true}', '', 'OK']) {
  test(`an answer to the right code that is "${body}" leads to the article as well`, async ({
    page,
    visitor,
  }) => {
    await page.route('**/api/verify', async (route) =>
      route.fulfill({ response: await route.fetch(), body }),
    );
    await page.goto('/');
    await visitor.readArticle();
    await expect(page.getByRole('article')).toContainText('The full guide goes on from here');
    await expect(visitor.toast).toContainText('Verified!');
  });
}

test('an article that does not load can be tried again', async ({ page, visitor }) => {
  await withoutArticle(page);
  await page.route('**/api/article', (route) => route.fulfill({ status: 503, body: 'Not now.' }), {
    times: 1,
  });
  await page.goto('/');
  await visitor.askForCode();
  await visitor.enterCode(await visitor.mailedCode());
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('article')).toBeVisible();
});
