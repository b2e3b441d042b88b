// A refused code is reported beside the boxes as well as in a toast, and no toast covers what the visitor is doing.
import type { Locator } from '@playwright/test';

import { boxAtRest, boxOf, expect, openWithFonts, test, type Box, type Visitor } from './fixtures.ts';

/** Beside the boxes; the toast puts its status before it. */
const REFUSAL =
  'That code is wrong or no longer valid. Check the newest email from us, or ask for a new code.';

const wrongCodeOf = (code: string) => (code === '000000' ? '000001' : '000000');

/** From the landing page to a code screen whose code was refused. */
async function haveCodeRefused(visitor: Visitor): Promise<void> {
  await visitor.askForCode();
  await visitor.enterCode(wrongCodeOf(await visitor.mailedCode()));
  await expect(visitor.toast).toContainText(`400: ${REFUSAL}`);
  await expect(visitor.box(1)).toBeFocused();
}

test('the sentence about a refused code stays under the boxes, tied to them, until something is typed', async ({
  page,
  visitor,
}) => {
  await page.goto('/');
  await haveCodeRefused(visitor);
  const sentence = page.getByRole('main').getByText(REFUSAL);
  await expect(sentence).toHaveText(REFUSAL);
  await visitor.toast.getByRole('button', { name: 'Close notification' }).click();
  await expect(visitor.toast).toHaveCount(0);
  await expect(sentence).toBeVisible();
  for (const number of [1, 6]) {
    await expect(visitor.box(number)).toHaveAccessibleDescription(REFUSAL);
    await expect(visitor.box(number)).toHaveAttribute('aria-invalid', 'true');
  }
  await visitor.box(1).focus();
  await page.keyboard.type('1');
  await expect(sentence).toHaveCount(0);
  await expect(visitor.box(1)).toHaveAccessibleDescription('');
  // What was said about the old code does not come back when the new one is taken out again.
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  expect(await visitor.boxValues()).toBe('______');
  await expect(sentence).toHaveCount(0);
  await expect(visitor.box(1)).toHaveAttribute('aria-invalid', 'false');
});

test('the toast about a refused code goes with the next digit, and no digit is marked blue', async ({
  page,
  visitor,
}) => {
  await page.goto('/');
  await haveCodeRefused(visitor);
  await page.keyboard.type('1');
  await expect(visitor.toast).toHaveCount(0);
  const marked = await visitor.box(6).evaluate((box) => getComputedStyle(box, '::selection').backgroundColor);
  expect(marked).toBe('rgba(0, 0, 0, 0)');
});

test('a failure that says nothing about the code stands under the boxes too, until a new code is sent', async ({
  page,
  visitor,
}) => {
  await page.clock.install();
  await page.goto('/');
  await visitor.askForCode();
  await page.route('**/api/verify', (route) => route.fulfill({ status: 500, body: '' }), { times: 1 });
  await visitor.enterCode('123456');
  await expect(visitor.toast).toContainText('Invalid code. Please try again.');
  const sentence = page.getByRole('main').getByText('Your code could not be checked.');
  await expect(sentence).toBeVisible();
  await page.clock.fastForward(60_000);
  await page.getByRole('button', { name: 'Resend Code' }).click();
  await expect(visitor.toast).toContainText('Success!');
  await expect(sentence).toHaveCount(0);
});

test('the sentence is read out once: by the box that has the focus, not by the toast as well', async ({
  page,
  visitor,
}) => {
  await page.goto('/');
  // What live regions say to a screen reader, as they change.
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    new MutationObserver(() => {
      for (const region of document.querySelectorAll('[aria-live], [role=status], [role=alert]')) {
        const text = region.textContent.trim();
        if (text !== '' && !heard.includes(text)) heard.push(text);
      }
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  await haveCodeRefused(visitor);
  const heard = () => page.evaluate(() => (window as unknown as { heard: string[] }).heard.join('\n'));
  await expect.poll(heard).toContain('Verification Failed');
  expect(await heard()).not.toContain('That code is wrong');
  await expect(visitor.box(1)).toHaveAccessibleDescription(REFUSAL);
});

test('the boxes take digits of other scripts, and send 0 to 9', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const sent = page.waitForRequest('**/api/verify');
  await visitor.box(1).focus();
  await page.keyboard.insertText('½²');
  expect(await visitor.boxValues()).toBe('______');
  const scripts = ['٠', '０', '०', '۰', '0', '৪'];
  for (const [index, digit] of code.split('').entries()) {
    const zero = (scripts[index] ?? '0').codePointAt(0) ?? 0;
    await page.keyboard.insertText(
      String.fromCodePoint(zero - (scripts[index] === '৪' ? 4 : 0) + Number(digit)),
    );
  }
  expect((await sent).postDataJSON()).toEqual({ email: visitor.email, code });
  await expect(page.getByRole('article')).toBeVisible();
});

test('at 320 x 568 the toast about a refused code covers neither heading nor sentence', async ({
  page,
  visitor,
}) => {
  await page.setViewportSize({ width: 320, height: 568 });
  await openWithFonts(page);
  await haveCodeRefused(visitor);
  const toast = await boxAtRest(visitor.toast);
  for (const part of [
    page.getByRole('heading', { level: 1 }),
    page.getByText('We sent a 6-digit code to'),
    page.getByRole('main').getByText(REFUSAL),
    visitor.box(1),
  ])
    expect(overlap(toast, await boxOf(part)), String(part)).toBe(false);
  // The header can still be used with a keyboard.
  const toggle = page.getByRole('button', { name: 'Toggle theme' });
  await page.keyboard.press('Shift+Tab');
  await toggle.focus();
  await expect.poll(async () => overlap(await boxOf(visitor.toast), await boxOf(toggle))).toBe(false);
});

// A phone, the same with its keyboard open, lying on its side, a laptop at 400 % zoom, a tablet, a desktop.
const SIZES = [
  [375, 667],
  [375, 430],
  [667, 375],
  [320, 256],
  [768, 1024],
  [1280, 800],
] as const;

const overlap = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

/** The toast is whole and in sight, and so is what has the focus, and neither lies over the other. */
async function expectNothingCovered(visitor: Visitor, what: Locator, where: string): Promise<void> {
  const { page } = visitor;
  await expect(visitor.toast, where).toBeVisible();
  await expect(what, where).toBeFocused();
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  // Moving may take a moment: smooth scrolling, the toast's arrival.
  await expect(async () => {
    const toast = await boxAtRest(visitor.toast);
    const focused = await boxOf(what);
    expect(overlap(toast, focused), `${where}: ${JSON.stringify({ toast, focused })}`).toBe(false);
    const header = await boxOf(page.getByRole('banner'));
    const close = await boxOf(visitor.toast.getByRole('button', { name: 'Close notification' }));
    for (const box of [toast, focused, close]) {
      expect(box.x, where).toBeGreaterThanOrEqual(0);
      expect(box.y, where).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width, where).toBeLessThanOrEqual(width);
      expect(box.y + box.height, where).toBeLessThanOrEqual(height + 1);
    }
    expect(overlap(focused, header), `${where}: header over the focus`).toBe(false);
  }).toPass();
}

for (const [width, height] of SIZES) {
  test(`a toast covers neither boxes nor focus at ${width} x ${height}`, async ({ page, visitor }) => {
    await page.setViewportSize({ width, height });
    await page.goto('/');
    await visitor.openForm();
    await visitor.sendForm();
    await visitor.fillForm();
    const send = page.getByRole('button', { name: 'Send Verification Code' });
    const sentences = [
      'The mail server does not answer just now. Please try again in a minute.',
      'x'.repeat(500),
    ];
    for (const body of sentences) {
      await page.route('**/api/leads', (route) => route.fulfill({ status: 503, body }), { times: 1 });
      await send.focus();
      await page.keyboard.press('Enter');
      await expect(visitor.toast).toContainText(body);
      await expectNothingCovered(visitor, send, 'form');
      // Back through the fields, with complaints under them.
      await page.getByRole('checkbox').uncheck();
      await page.getByLabel('Work Email *').fill('');
      for (const field of [
        page.getByRole('checkbox'),
        page.getByLabel('Work Email *'),
        page.getByLabel('Full Name *'),
      ]) {
        await field.focus();
        await expectNothingCovered(visitor, field, 'field');
      }
      await visitor.fillForm();
    }
    await send.focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
    for (const body of [REFUSAL, 'x'.repeat(500)]) {
      await page.route('**/api/verify', (route) => route.fulfill({ status: 400, body }), { times: 1 });
      await visitor.enterCode('123456');
      await expect(visitor.toast).toContainText(`400: ${body}`);
      await expectNothingCovered(visitor, visitor.box(1), 'code');
      for (const number of [1, 6])
        expect(overlap(await boxOf(visitor.toast), await boxOf(visitor.box(number)))).toBe(false);
      const wrongAddress = page.getByRole('button', { name: 'Wrong address?' });
      await wrongAddress.focus();
      await expectNothingCovered(visitor, wrongAddress, 'wrong address');
    }
    await visitor.enterCode(await visitor.mailedCode());
    await expect(page.getByRole('article')).toBeVisible();
    const back = page.getByRole('button', { name: 'Back' });
    await back.focus();
    await expect(visitor.toast).toContainText('Verified!');
    // It gives way in a moment.
    await expect.poll(async () => overlap(await boxOf(visitor.toast), await boxOf(back))).toBe(false);
  });
}
