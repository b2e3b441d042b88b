import type { Locator } from '@playwright/test';

import type { Box } from '#testing/engines/engine.ts';
import {
  fulfillNext,
  boxAtRest,
  boxOf,
  expect,
  resize,
  test,
  waitForFonts,
  wrongFor,
  type Visitor,
} from './fixtures.ts';

const REFUSAL =
  'That code is wrong or no longer valid. Check the newest email from us, or ask for a new code.';
const AT_BOXES = /^Wrong or expired code\. Use the one with the reference [A-Z]{3}, or ask for another\.$/;

test('the error about a refused code covers nothing and vanishes with typing', async ({ page, visitor }) => {
  await resize(page, { width: 320, height: 568 });
  await visitor.startAtCode();
  await visitor.enterCode(wrongFor(await visitor.mailedCode()));
  await expect(visitor.toast).toContainText(`400: ${REFUSAL}`);
  await expect(visitor.box(1)).toBeFocused();
  await waitForFonts(page);
  await visitor.keepToast();
  const toast = await boxAtRest(visitor.toast);
  for (const part of [
    page.getByRole('heading', { level: 1 }),
    page.getByText('We sent a 6-digit code to'),
    page.getByRole('main').getByText(AT_BOXES),
    visitor.box(1),
  ])
    expect(overlap(toast, await boxOf(part)), String(part)).toBe(false);
  const toggle = page.getByRole('button', { name: 'Toggle theme' });
  await page.keyboard.press('Shift+Tab');
  await toggle.focus();
  await expect.poll(async () => overlap(await boxOf(visitor.toast), await boxOf(toggle))).toBe(false);

  const sentence = page.getByRole('main').getByText(AT_BOXES);
  const [reference = ''] = /[A-Z]{3}(?=,)/.exec(await sentence.innerText()) ?? [];
  const newestMail = page.getByText(`Your code is in our newest email, with the reference ${reference}.`);
  await expect(newestMail).toHaveCount(0);
  await expect(page.getByRole('main').getByText(REFUSAL)).toHaveCount(0);
  for (const number of [1, 6]) {
    await expect(visitor.box(number)).toHaveAccessibleDescription(AT_BOXES);
    await expect(visitor.box(number)).toHaveAttribute('aria-invalid', 'true');
  }
  await visitor.box(1).focus();
  await page.keyboard.type('1');
  await expect(sentence).toHaveCount(0);
  await expect(newestMail).toBeVisible();
  await expect(visitor.toast).toHaveCount(0);
  const marked = await visitor.box(6).evaluate((box) => getComputedStyle(box, '::selection').backgroundColor);
  expect(marked).toBe('rgba(0, 0, 0, 0)');
  await expect(visitor.box(1)).toHaveAccessibleDescription('');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  expect(await visitor.boxValues()).toBe('______');
  await expect(sentence).toHaveCount(0);
  await expect(visitor.box(1)).toHaveAttribute('aria-invalid', 'false');
});

test('once all attempts are used up, a new code can be requested at once', async ({ page, visitor }) => {
  await visitor.startAtCode();
  const wrong = wrongFor(await visitor.mailedCode());
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const response = page.waitForResponse('**/api/verify');
    await visitor.enterCode(wrong);
    // The toast of the attempt before has the same text.
    await response;
    await expect(visitor.toast).toContainText('400: ');
    await expect(visitor.box(1)).toBeEnabled();
  }
  await expect(page.getByText(/^Resend in \d+ seconds$/)).toBeVisible();
  await visitor.enterCode(wrong);
  await expect(visitor.toast).toContainText('429: Too many wrong codes were entered.');
  await page.keyboard.press('1');
  await expect(page.getByText('Your code is in our newest email')).toHaveCount(0);
  const resend = page.getByRole('button', { name: 'Resend Code' });
  expect((await boxOf(resend)).height, 'not stretched').toBeLessThan(60);
  await resend.click();
  await expect(visitor.toast).toContainText('Success!');
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await expect(page.getByText('Your code is in our newest email')).toBeVisible();
  await visitor.openArticle(await visitor.mailedCode(2));
});

// A phone in portrait, with an open keyboard and in landscape; a laptop at 400 % zoom; a tablet; a desktop; a laptop's low window.
const SIZES = [
  [375, 667],
  [375, 430],
  [667, 375],
  [320, 256],
  [768, 1024],
  [1280, 800],
  [1366, 600],
] as const;

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

async function expectNothingCovered(visitor: Visitor, what: Locator, where: string): Promise<void> {
  const { page } = visitor;
  await visitor.keepToast();
  await expect(what, where).toBeFocused();
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  await expect(async () => {
    const { header, toast, close, focused } = await visitor.toast.evaluate(async (shown) => {
      await Promise.all(shown.getAnimations().map(({ finished }) => finished));
      const placeOf = (element: Element | null): Box => {
        const { x, y, width: wide, height: high } = element!.getBoundingClientRect();
        return { x, y, width: wide, height: high };
      };
      return {
        header: placeOf(document.querySelector('header')),
        toast: placeOf(shown),
        close: placeOf(shown.querySelector('button')),
        focused: placeOf(document.activeElement),
      };
    });
    expect(overlap(toast, focused), `${where}: ${JSON.stringify({ toast, focused })}`).toBe(false);
    for (const box of [toast, focused, close]) {
      expect(box.x, where).toBeGreaterThanOrEqual(0);
      expect(box.y, where).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width, where).toBeLessThanOrEqual(width);
      expect(box.y + box.height, where).toBeLessThanOrEqual(height + 1);
    }
    expect(overlap(focused, header), `${where}: header over the focus`).toBe(false);
    if (width >= 1024) expect(overlap(toast, header), `${where}: toast over the header`).toBe(false);
  }).toPass();
}

test("no toast covers the form's fields or the focused element at any size", async ({ page, visitor }) => {
  test.slow();
  await visitor.startAtForm();
  await visitor.sendForm();
  await visitor.fillForm();
  const send = page.getByRole('button', { name: 'Send Verification Code' });
  const sentence = 'The mail server does not answer just now. Please try again in a minute.';
  for (const [width, height, body = 'x'.repeat(500)] of [[...SIZES[0], sentence], ...SIZES] as const) {
    await resize(page, { width, height });
    await fulfillNext(page, '**/api/leads', { status: 503, body });
    await send.focus();
    await page.keyboard.press('Enter');
    await expect(visitor.toast).toContainText(body);
    await expectNothingCovered(visitor, send, `button at ${width} x ${height}`);
    await page.getByRole('checkbox').uncheck();
    await page.getByLabel('Work Email *').fill('');
    for (const field of [
      page.getByRole('checkbox'),
      page.getByLabel('Work Email *'),
      page.getByLabel('Full Name *'),
    ]) {
      await field.focus();
      await expectNothingCovered(visitor, field, `field at ${width} x ${height}`);
    }
    await visitor.fillForm();
  }
});

test('no toast covers the code boxes or the focused element at any size', async ({ page, visitor }) => {
  test.slow();
  await visitor.startAtCode();
  for (const [width, height, body = 'x'.repeat(500)] of [[...SIZES[0], REFUSAL], ...SIZES] as const) {
    await resize(page, { width, height });
    await fulfillNext(page, '**/api/verify', { status: 400, body });
    await visitor.enterCode('123456');
    await expect(visitor.toast).toContainText(`400: ${body}`);
    await expectNothingCovered(visitor, visitor.box(1), `code at ${width} x ${height}`);
    for (const number of [1, 6])
      expect(overlap(await boxOf(visitor.toast), await boxOf(visitor.box(number)))).toBe(false);
    const wrongAddress = page.getByRole('button', { name: 'Wrong address?' });
    await wrongAddress.focus();
    await expectNothingCovered(visitor, wrongAddress, `wrong address at ${width} x ${height}`);
  }
  await visitor.openArticle();
  await expect(visitor.toast).toContainText('Verified!');
  await visitor.keepToast();
  const back = page.getByRole('button', { name: 'Back' });
  for (const [width, height] of SIZES) {
    await resize(page, { width, height });
    await back.blur();
    await back.focus();
    await expect
      .poll(async () => overlap(await boxOf(visitor.toast), await boxOf(back)), `${width} x ${height}`)
      .toBe(false);
  }
});
