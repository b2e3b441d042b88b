import type { Page } from '@playwright/test';

import { expect, hold, loadedFonts, nextFrame, openWithFonts, resize, test } from './fixtures.ts';

const TEXT_FONT = "'Hanken Grotesk'";
/** Fallback faces of web/styles/tokens.css whose fonts testing/fonts.ts provides. */
const FALLBACKS = ['DejaVu-fit', 'Roboto-fit'];

type Box = {
  readonly words: string;
  readonly top: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
};

const boxes = (page: Page): Promise<Box[]> =>
  page.evaluate(() =>
    Array.from(document.querySelectorAll('h1, h2, h3, p, button, blockquote, figcaption'))
      .filter((element) => element.checkVisibility())
      .map((element) => {
        const { top, height, left, right } = element.getBoundingClientRect();
        return {
          words: `${element.tagName} ${element.textContent?.slice(0, 30)}`,
          top: Math.round(top + scrollY),
          height: Math.round(height),
          left: Math.round(left),
          right: Math.round(right),
        };
      }),
  );

function expectSamePlaces(before: readonly Box[], after: readonly Box[], where: string): void {
  expect(before.length, where).toBeGreaterThan(where.startsWith('form') ? 5 : 30);
  expect(
    after.map(({ words, top, height }) => ({ words, top, height })),
    where,
  ).toEqual(before.map(({ words, top, height }) => ({ words, top, height })));
  // Centred text must keep its centre, and aligned text its edge.
  const sideways = after.flatMap(({ words, left, right }, index) => {
    const was = before[index];
    if (was === undefined) return [];
    const moves = [left - was.left, right - was.right, (left + right - was.left - was.right) / 2];
    return Math.min(...moves.map(Math.abs)) < 4 ? [] : [`${words}: ${moves.join(', ')}`];
  });
  expect(sideways, where).toEqual([]);
}

async function setText(page: Page, sans: string): Promise<Box[]> {
  await page.evaluate((fonts) => document.documentElement.style.setProperty('--sans', fonts), sans);
  await nextFrame(page);
  return boxes(page);
}

async function expectEveryFallbackFits(page: Page, where: string): Promise<void> {
  for (const fallback of FALLBACKS)
    expectSamePlaces(
      await setText(page, fallback),
      await setText(page, `${TEXT_FONT}, ${fallback}`),
      `${where}, ${fallback}`,
    );
}

test('nothing moves when the text font loads late', async ({ page }) => {
  await resize(page, { width: 375, height: 900 });
  const asked = page.waitForRequest('**/fonts/hanken-grotesk.woff2');
  const release = await hold(page, '**/fonts/hanken-grotesk.woff2');
  await page.goto('/');
  await asked;
  // The test machines have no serif, so shifts caused by Newsreader are not tested.
  await expect.poll(() => loadedFonts(page)).toContain('Newsreader');
  expect(await loadedFonts(page)).not.toContain('Hanken Grotesk');
  const before = await boxes(page);
  // Newsreader's own shift is reported one frame after the font has loaded.
  await nextFrame(page);
  await page.evaluate(() => {
    Object.assign(globalThis, { shift: 0 });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        Object.assign(globalThis, {
          shift: Number(Reflect.get(globalThis, 'shift')) + Number(Reflect.get(entry, 'value')),
        });
    }).observe({ type: 'layout-shift' });
  });
  release();
  await expect.poll(() => loadedFonts(page)).toContain('Hanken Grotesk');
  expectSamePlaces(before, await boxes(page), '375 px');
  // A button's arrow moves by a pixel. Layout shift up to 0.1 counts as good.
  expect(await page.evaluate(() => Number(Reflect.get(globalThis, 'shift')))).toBeLessThan(0.0001);
});

test('each fallback font takes the same space as the text font', async ({ page, visitor }) => {
  await openWithFonts(page);
  for (const width of [375, 1440]) {
    await resize(page, { width, height: 900 });
    await expectEveryFallbackFits(page, `${width} px`);
  }
  await visitor.openForm();
  await expectEveryFallbackFits(page, 'form');
});
