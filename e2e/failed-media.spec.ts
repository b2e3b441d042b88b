import type { Page } from '@playwright/test';

import { contrastOf } from '#shared/colours.ts';

import { expect, resize, test } from './fixtures.ts';

const initials = (page: Page) =>
  page.evaluate(() => {
    const hex = (colour: string): string =>
      `#${(colour.match(/\d+/g) ?? [])
        .slice(0, 3)
        .map((value) => Number(value).toString(16).padStart(2, '0'))
        .join('')}`;
    const middle = (element: Element): number => {
      const { top, bottom } = element.getBoundingClientRect();
      return (top + bottom) / 2;
    };
    return Array.from(document.querySelectorAll('main figcaption > span > [aria-hidden]'))
      .filter((letters) => letters.checkVisibility())
      .map((letters) => {
        const circle = letters.parentElement ?? letters;
        return {
          colour: hex(getComputedStyle(letters).color),
          ground: hex(getComputedStyle(circle).backgroundColor),
          offset: Math.abs(middle(letters) - middle(circle)),
        };
      });
  });

test('initials replace pictures that fail to load, in both themes', async ({
  page,
  visitor,
  expectedErrors,
}) => {
  expectedErrors.push(/avatar-/);
  await page.route('**/media/avatar-*', (route) => route.abort());
  const expectReadable = async (stage: string) => {
    for (const theme of ['light', 'dark']) {
      await expect(page.locator('html')).toHaveClass(theme);
      // The colours follow the theme a moment later.
      await expect(async () => {
        const found = await initials(page);
        expect(found.length, stage).toBeGreaterThan(0);
        for (const { colour, ground, offset } of found) {
          expect(contrastOf(colour, ground), `${stage}: ${colour} on ${ground}`).toBeGreaterThan(4.5);
          expect(offset, stage).toBeLessThan(1);
        }
      }).toPass({ timeout: 5_000 });
      await page.getByRole('button', { name: 'Toggle theme' }).click();
    }
  };
  await resize(page, { width: 1440, height: 900 });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  await page.getByRole('heading', { name: 'Proven Results From Real Teams' }).scrollIntoViewIfNeeded();
  const person = page.getByRole('figure').filter({ hasText: 'Sarah Lindqvist' });
  await expect(person.getByText('SL', { exact: true })).toBeVisible();
  await expectReadable('landing');
  await expect(person.locator('img')).toHaveCount(1);
  await visitor.openForm();
  await expectReadable('form');
});

test('a message next to the film says that it cannot be played', async ({ page, expectedErrors }) => {
  expectedErrors.push(/media\/film\./);
  await page.route('**/media/film.*', (route) => route.abort());
  await page.goto('/');
  await page.getByRole('button', { name: 'Play video' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'The film cannot be played here.' })).toBeVisible();
  const points = page.locator('section', { has: page.locator('video') }).getByRole('listitem');
  await expect(points).toHaveCount(3);
});
