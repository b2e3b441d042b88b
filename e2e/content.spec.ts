import { expect, test, withoutArticle } from './fixtures.ts';

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
