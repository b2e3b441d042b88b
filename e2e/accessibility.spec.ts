import type { Page } from '@playwright/test';

import { expectNoViolations } from './axe.ts';
import { expect, test, wrongFor } from './fixtures.ts';

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

test('every stage passes axe and can be used by keyboard', async ({ page, visitor, expectedErrors }) => {
  test.slow();
  expectedErrors.push(/404 \(Not Found\)/);
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const closeToast = async () => {
    await press('F8', 'Tab', 'Tab');
    await expect(visitor.toast.getByRole('button', { name: 'Close notification' })).toBeFocused();
    await press('Enter');
    await expect(visitor.toast).toHaveCount(0);
  };
  const expectAccessible = async (stage: string) => {
    const { stops, unseen } = await tabThrough(page);
    expect(stops, stage).toBeGreaterThan(3);
    expect(unseen, `${stage}: without an outline`).toEqual([]);
    expect(await passedBy(page), `${stage}: not reached`).toEqual([]);
    await expectNoViolations(page, stage);
  };
  await page.goto('/');
  await expectAccessible('landing page');
  await page.getByRole('banner').getByRole('button').focus();
  await press('Tab');
  await expect(page.getByRole('button', { name: 'Get Your Free Copy', exact: true })).toBeFocused();
  await press('Enter');
  await expect(visitor.form).toBeFocused();
  await visitor.sendForm();
  await expectAccessible('form with errors');
  await page.getByLabel('Full Name *').focus();
  await page.keyboard.type('Ada Lovelace');
  await press('Tab');
  await page.keyboard.type('Analytical Engines');
  await press('Tab');
  await page.keyboard.type(visitor.email);
  await press('Tab', 'Space', 'Tab');
  await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeFocused();
  await press('Enter');
  await expect(visitor.box(1)).toBeFocused();
  await visitor.keepToast();
  await expectNoViolations(page, 'code screen with a toast');
  await closeToast();
  await expectAccessible('code screen');
  const code = await visitor.mailedCode();
  await visitor.enterCode(wrongFor(code));
  await expect(visitor.toast).toContainText('Verification Failed');
  await expectNoViolations(page, 'code screen after a refusal');
  await page.keyboard.type(code);
  await expect(visitor.toast).toContainText('Verified!');
  await visitor.keepToast();
  await expect(page.getByRole('heading', { level: 1, name: 'Master AI-Powered Outreach' })).toBeFocused();
  await closeToast();
  await expectAccessible('article');
  await page.getByRole('button', { name: 'Back' }).focus();
  await press('Enter');
  await expect(visitor.landing).toBeFocused();
  await page.goto('/nowhere');
  await expectNoViolations(page, '404');
});
