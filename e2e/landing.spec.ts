import { expect, expectLoaded, forgetRestingPointer, requestsTo, resize, test } from './fixtures.ts';

test('the header stays at the top of the screen and is opaque', async ({ page }) => {
  await page.goto('/');
  const ground = (selector: string) =>
    page.locator(selector).evaluate((element) => getComputedStyle(element).backgroundColor);
  expect(await ground('header')).toBe(await ground('body'));
  await page.mouse.wheel(0, 2000);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(1000);
  await expect(page.getByRole('banner')).toBeInViewport();
  expect((await page.getByRole('banner').boundingBox())?.y).toBe(0);
});

test('the hero picture and the sample pages load only when they are shown', async ({ page }) => {
  const requested = requestsTo(page, /hero|inside-/);
  await resize(page, { width: 767, height: 800 });
  await page.goto('/');
  const summary = page.getByText('Look inside');
  await summary.scrollIntoViewIfNeeded();
  await page.waitForLoadState('networkidle');
  const hero = page.getByRole('img', { name: /^Five index cards/ });
  await expect(hero).toBeHidden();
  expect(requested).toEqual([]);
  await summary.click();
  const pages = page.getByRole('img', { name: /^Two pages of/ });
  await expect(pages).toHaveCount(2);
  for (const picture of await pages.all()) {
    await picture.scrollIntoViewIfNeeded();
    await expectLoaded(picture, 300);
  }
  await resize(page, { width: 1280, height: 800 });
  await expect(summary).toBeHidden();
  await expect(pages).toHaveCount(2);
  await expect(hero).toBeVisible();
  await expectLoaded(hero, 300);
});

test('the theme is light at first, changes on a press and is stored as "theme"', async ({ page }) => {
  await page.goto('/');
  const theme = () =>
    page.evaluate(() => `${localStorage.getItem('theme')} ${document.documentElement.className}`);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const frame = page.locator('meta[name=theme-color]');
  expect(await theme()).toBe('null light');
  const light = await background();
  await expect(frame).toHaveAttribute('content', '#faf7f0');

  const toggle = page.getByRole('button', { name: 'Toggle theme' });
  await toggle.click();
  expect(await theme()).toBe('dark dark');
  await expect(frame).toHaveAttribute('content', '#12130f');
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).focus();
  await page.waitForLoadState('networkidle');
  expect(await theme()).toBe('dark dark');
  const dark = await background();
  expect(dark).not.toBe(light);

  await page.reload();
  expect(await theme()).toBe('dark dark');
  expect(await background()).toBe(dark);
  await expect(frame).toHaveAttribute('content', '#12130f');
  await toggle.hover();
  await expect(page.getByRole('tooltip')).toBeVisible();
  await toggle.dblclick();
  expect(await theme()).toBe('dark dark');
  await toggle.click();
  expect(await theme()).toBe('light light');
});

test('the first frame has the stored theme, or light if it is unknown', async ({ page, expectedErrors }) => {
  expectedErrors.push(/assets\/(?:app|display)-/);
  await page.route('**/assets/**', (route) => route.abort());
  for (const [stored, shown] of [
    ['dark', 'dark'],
    ['purple', 'light'],
  ] as const) {
    await page.addInitScript((theme) => localStorage.setItem('theme', theme), stored);
    await page.goto('/', { waitUntil: 'commit' });
    await page.waitForFunction(() => document.body !== null);
    expect(await page.evaluate(() => document.documentElement.className)).toBe(shown);
  }
});

test('an unknown path shows the 404 page with a link back', async ({ page, expectedErrors }) => {
  expectedErrors.push(/404 \(Not Found\)/);
  for (const path of ['/nowhere', '/index.html']) {
    const response = await page.goto(path);
    expect(response?.status(), path).toBe(404);
    await expect(page.getByText('404 Page Not Found', { exact: true })).toBeVisible();
    expect(response?.headers()['x-robots-tag']).toBe('noindex');
  }
  await page.getByRole('button', { name: 'Toggle theme' }).click();
  await expect(page.locator('html')).toHaveClass('dark');
  await page.getByRole('link', { name: 'Go to the guide' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Master AI-Powered Cold Outreach');
});

test('a phone with a high-resolution screen downloads less than 165 kB', async ({ browser, site }) => {
  await using context = await browser.newContext({
    baseURL: site.url,
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 3,
    isMobile: true,
    hasTouch: true,
  });
  await context.addInitScript(forgetRestingPointer);
  const page = await context.newPage();
  const weights = new Map<string, number>();
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url());
    void request.sizes().then(({ responseBodySize }) => weights.set(pathname, responseBodySize));
  });
  await page.goto('/');
  // Scrolls past every picture without a sign of intent, which would load the application.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  for (let top = 0; top < height; top += 400) {
    await page.evaluate((to) => window.scrollTo(0, to), top);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
  await page.waitForLoadState('networkidle');
  const pictures = Array.from(weights.keys()).filter((pathname) => pathname.startsWith('/media/'));
  expect(pictures.toSorted()).toEqual([
    '/media/avatar-marcus-adeyemi.avif',
    '/media/avatar-sarah-lindqvist.avif',
    '/media/guide-400.avif',
    '/media/poster-640.avif',
  ]);
  const sum = Array.from(weights.values()).reduce((total, bytes) => total + bytes, 0);
  expect(sum).toBeGreaterThan(100_000);
  expect(sum).toBeLessThan(165_000);
});
