import type { Page } from '@playwright/test';

import { expect, test } from './fixtures.ts';

/** Returns the number of stops. */
async function tabThrough(
  page: Page,
): Promise<{ readonly stops: number; readonly unseen: readonly string[] }> {
  await page.evaluate(() => {
    for (const stop of document.querySelectorAll('[data-stop]')) stop.removeAttribute('data-stop');
  });
  const unseen: string[] = [];
  let left = false;
  for (let stops = 0; stops < 100; stops += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const focused = document.activeElement;
      if (!(focused instanceof HTMLElement) || focused === document.body) return 'out';
      if (focused.dataset['stop'] !== undefined) return 'again';
      focused.dataset['stop'] = '';
      const { outlineStyle, outlineWidth } = getComputedStyle(focused);
      const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
      return isSeen ? 'seen' : focused.outerHTML.slice(0, 80);
    });
    if (stop === 'out') left = true;
    else if (stop === 'again') {
      expect(left, 'Tab leads out of the page').toBe(true);
      return { stops, unseen };
    } else if (stop !== 'seen') unseen.push(stop);
  }
  throw new Error('Tab never came back to where it began.');
}

const passedBy = (page: Page) =>
  page.evaluate(() =>
    Array.from(document.querySelectorAll<HTMLElement>('a[href], button, input, video[controls]'))
      .filter(
        (element) => element.tabIndex >= 0 && !element.matches(':disabled') && element.checkVisibility(),
      )
      .filter((element) => element.dataset['stop'] === undefined)
      .map((element) => element.outerHTML.slice(0, 80)),
  );

test('Tab visibly focuses every control of every stage', async ({ page, visitor }) => {
  const expectAllReached = async (stage: string) => {
    const { stops, unseen } = await tabThrough(page);
    expect(stops, stage).toBeGreaterThan(3);
    expect(unseen, `${stage}: without an outline`).toEqual([]);
    expect(await passedBy(page), `${stage}: not reached`).toEqual([]);
  };
  await page.goto('/');
  await expectAllReached('landing page');
  await visitor.openForm();
  await expectAllReached('form');
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(visitor.codeScreen).toBeVisible();
  await visitor.closeToast();
  await expectAllReached('code screen');
  await visitor.openArticle();
  await visitor.closeToast();
  await expectAllReached('article');
});
