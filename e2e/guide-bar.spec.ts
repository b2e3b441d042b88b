import type { Page } from '@playwright/test';

import { boxOf, expect, inEveryFont, openWithFonts, overflow, resize, test } from './fixtures.ts';

test.use({ reducedMotion: 'no-preference' });

const barOf = (page: Page) => page.getByRole('button', { name: 'Get the guide' });

async function goBetween(page: Page): Promise<void> {
  await page.mouse.move(40, 200);
  await page.getByRole('heading', { name: 'Why Most Cold Outreach Fails' }).scrollIntoViewIfNeeded();
  await expect(barOf(page)).toBeVisible();
}

test('the guide bar appears between calls to action, and moves nothing', async ({ page }) => {
  await page.addInitScript(() => {
    let shifted = 0;
    new PerformanceObserver((list) => {
      for (const shift of list.getEntries()) shifted += Reflect.get(shift, 'value') as number;
      document.documentElement.dataset['shifted'] = String(shifted);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  const shifted = async () => Number((await page.locator('html').getAttribute('data-shifted')) ?? 0);
  await openWithFonts(page);
  await page.mouse.move(40, 200);
  await page.waitForFunction(() => document.querySelector('[aria-label^="Notifications"]') !== null);
  for (const [width, height] of [
    [1280, 800],
    [320, 640],
  ] as const)
    await test.step(`at ${width} px`, async () => {
      await resize(page, { width, height });
      await expect(barOf(page)).toHaveCount(0);
      const before = await shifted();
      await goBetween(page);
      const distanceFromEdge = async () => {
        const box = await boxOf(barOf(page));
        return height - box.y - box.height;
      };
      await expect.poll(distanceFromEdge).toBeGreaterThanOrEqual(0);
      expect(await distanceFromEdge()).toBeLessThan(24);

      await page.getByRole('button', { name: 'Get Your Free Copy Now' }).scrollIntoViewIfNeeded();
      await expect(barOf(page)).toHaveCount(0);
      await page.getByRole('contentinfo').scrollIntoViewIfNeeded();
      await expect(barOf(page)).toHaveCount(0);
      await page.evaluate(() => window.scrollTo(0, 0));
      await expect(barOf(page)).toHaveCount(0);
      expect((await shifted()) - before).toBeLessThan(0.001);
    });
  await goBetween(page);
  await inEveryFont(page, async (font) => {
    expect(await overflow(page), font).toBe(0);
    expect((await boxOf(barOf(page))).y, font).toBeGreaterThan(500);
  });
});

test('the guide bar keeps the focus, never covers it and returns after Back', async ({ page, visitor }) => {
  await openWithFonts(page);
  await goBetween(page);
  const isBetween = await barOf(page).evaluate((button) => {
    const follows = (id: string) =>
      (document.getElementById(id)?.compareDocumentPosition(button) ?? 0) & Node.DOCUMENT_POSITION_FOLLOWING;
    return follows('testimonials') !== 0 && follows('closing') === 0;
  });
  expect(isBetween).toBe(true);
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByText('The guide is free.')).toBeHidden();
  await expect(barOf(page)).toBeHidden();
  await page.emulateMedia({ media: 'screen' });
  await barOf(page).focus();
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await expect(page.getByRole('button', { name: 'Get Your Free Copy Now' })).toBeInViewport();
  await expect(barOf(page)).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Get Your Free Copy Now' })).toBeFocused();
  await expect(barOf(page)).toHaveCount(0);

  await resize(page, { width: 375, height: 700 });
  const play = page.getByRole('button', { name: 'Play video' });
  await play.evaluate((button) => {
    window.scrollTo(0, button.getBoundingClientRect().top + scrollY - innerHeight + 20);
  });
  await expect(barOf(page)).toBeVisible();
  await page.getByRole('button', { name: 'Toggle theme' }).focus();
  for (let presses = 0; presses < 4; presses += 1) {
    await page.keyboard.press('Tab');
    if (await play.evaluate((button) => button === document.activeElement)) break;
  }
  await expect(play).toBeFocused();
  const clear = await play.evaluate((button) => {
    const bar = document.documentElement.style.getPropertyValue('--bar');
    return innerHeight - Number.parseFloat(bar || '0') - button.getBoundingClientRect().bottom;
  });
  expect(clear).toBeGreaterThanOrEqual(0);

  await goBetween(page);
  const top = await page.evaluate(() => scrollY);
  await barOf(page).click();
  await expect(visitor.form).toBeVisible();
  await expect(barOf(page)).toHaveCount(0);
  expect(await page.evaluate(() => document.documentElement.style.getPropertyValue('--bar'))).toBe('');
  await page.goBack();
  await expect(barOf(page)).toBeFocused();
  await expect.poll(() => page.evaluate(() => Math.round(scrollY))).toBe(Math.round(top));
});
