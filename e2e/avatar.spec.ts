// A person's initials, where their picture has not come.
import { contrastOf } from '#shared/colours.ts';

import { expect, test, type Visitor } from './fixtures.ts';

/** Letters, ground, and how far the letters stand from the middle of their circle, in pixels. */
const initials = (visitor: Visitor) =>
  visitor.page.evaluate(() => {
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

for (const theme of ['light', 'dark'])
  test(`initials without a picture can be read and stand in the middle in the ${theme} theme`, async ({
    page,
    visitor,
    expectedComplaints,
  }) => {
    expectedComplaints.push(/net::ERR_FAILED/);
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme);
    await page.route('**/media/avatar-*', (route) => route.abort());
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/');
    for (const stage of ['landing', 'form']) {
      if (stage === 'form') await visitor.openForm();
      const found = await initials(visitor);
      expect(found.length, stage).toBeGreaterThan(0);
      for (const { colour, ground, offset } of found) {
        expect(contrastOf(colour, ground), `${stage}: ${colour} on ${ground}`).toBeGreaterThan(4.5);
        expect(offset, stage).toBeLessThan(1);
      }
    }
  });
