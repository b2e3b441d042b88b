import { expect, stopClock, test } from './fixtures.ts';

test.beforeEach(async ({ page }) => {
  await page.goto('/');
});

test('typing a code fills the boxes one by one and verifies it once', async ({ page, visitor }) => {
  const calls: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/verify')) calls.push(request.postDataJSON());
  });
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  for (const number of [1, 2, 3, 4, 5, 6]) {
    await expect(visitor.box(number)).toHaveAttribute('inputmode', 'numeric');
    await expect(visitor.box(number)).toHaveAttribute('autocomplete', 'one-time-code');
    await expect(visitor.box(number)).toHaveAccessibleName(`Digit ${number} of 6`);
  }
  await visitor.box(1).click();
  await page.keyboard.type('x-');
  expect(await visitor.boxValues()).toBe('______');
  await page.keyboard.type(code.slice(0, 3));
  await expect(visitor.box(4)).toBeFocused();
  await page.keyboard.type(code.slice(3));
  await expect(page.getByRole('article')).toBeVisible();
  expect(calls).toEqual([{ email: visitor.email, code }]);
});

test('Backspace, arrows, Home and End move between the boxes', async ({ page, visitor }) => {
  await visitor.askForCode();
  await visitor.enterCode('123');
  await page.keyboard.press('Backspace');
  await expect(visitor.box(3)).toBeFocused();
  expect(await visitor.boxValues()).toBe('123___');
  await page.keyboard.press('Backspace');
  await expect(visitor.box(3)).toBeFocused();
  expect(await visitor.boxValues()).toBe('12____');
  await page.keyboard.press('Home');
  await expect(visitor.box(1)).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(visitor.box(2)).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(visitor.box(1)).toBeFocused();
  await page.keyboard.press('End');
  await expect(visitor.box(6)).toBeFocused();
  await visitor.box(2).click();
  await page.keyboard.type('2');
  await expect(visitor.box(3)).toBeFocused();
  await visitor.box(1).click();
  await page.keyboard.type('9');
  expect(await visitor.boxValues()).toBe('92____');
});

test('a code is pasted into any box, also out of a longer text', async ({ page, visitor, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const typed: string[] = [];
  await page.route('**/api/verify', async (route) => {
    typed.push((route.request().postDataJSON() as { code: string }).code);
    await route.fulfill({ status: 400, body: 'No.' });
  });
  await visitor.askForCode();
  const pastes = [
    ['111111', 1],
    ['222 222', 3],
    ['333-333', 6],
    ['Your code for the guide is 444444. It is valid for 10 minutes.', 4],
  ] as const;
  for (const [text, number] of pastes) {
    await page.evaluate((value) => navigator.clipboard.writeText(value), text);
    await visitor.box(number).focus();
    await page.keyboard.press('ControlOrMeta+v');
    await expect.poll(() => typed.at(-1)).toBe(text.replace(/\D/g, '').slice(0, 6));
    await expect(visitor.box(1)).toBeFocused();
    expect(await visitor.boxValues()).toBe('______');
  }
  expect(typed).toHaveLength(pastes.length);
});

test('autofill may put the whole code into one box at once', async ({ page, visitor }) => {
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  await visitor.box(1).evaluate((input: HTMLInputElement, value) => {
    // As a browser does it: the value changes and one input event follows.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, value);
    input.dispatchEvent(
      new InputEvent('input', { bubbles: true, inputType: 'insertReplacementText', data: value }),
    );
  }, code);
  await expect(page.getByRole('article')).toBeVisible();
});

test('while verifying the boxes are disabled, and after a refusal empty, usable and focused', async ({
  page,
  visitor,
}) => {
  const held = Promise.withResolvers<void>();
  const asked: string[] = [];
  // One route for all three codes. A route that ends and one that begins may let a request pass between them.
  await page.route('**/api/verify', async (route) => {
    asked.push((route.request().postDataJSON() as { code: string }).code);
    if (asked.length === 1) await held.promise;
    if (asked.length === 2) await route.fulfill({ status: 400, body: '' });
    else await route.continue();
  });
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const wrong = code === '000000' ? '000001' : '000000';
  await visitor.enterCode(wrong);
  await expect(page.getByRole('status').filter({ hasText: 'Verifying code...' })).toBeVisible();
  for (const number of [1, 6]) await expect(visitor.box(number)).toBeDisabled();
  held.resolve();
  await expect(visitor.toast).toContainText('Verification Failed');
  await expect(visitor.toast).toContainText(
    '400: That code is wrong or no longer valid. Check the newest email from us, or ask for a new code.',
  );
  await expect(visitor.box(1)).toBeFocused();
  expect(await visitor.boxValues()).toBe('______');
  await expect(page.getByText('Verifying code...')).toHaveCount(0);

  await page.keyboard.type('999999');
  await expect(visitor.toast).toContainText('Invalid code. Please try again.');
  await expect(visitor.box(1)).toBeFocused();
  await page.keyboard.type(code);
  await expect(page.getByRole('article')).toBeVisible();
  expect(asked).toEqual([wrong, '999999', code]);
});

test('the resend countdown runs for 60 seconds, and again after a press', async ({ page, visitor, site }) => {
  await page.clock.install();
  await visitor.openForm();
  await visitor.fillForm();
  await stopClock(page);
  await visitor.sendForm();
  const first = await visitor.mailedCode();
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Resend Code' })).toHaveCount(0);
  await page.clock.runFor(1000);
  await expect(page.getByText('Resend in 59 seconds')).toBeVisible();
  await expect(page.getByText('look in your spam')).toHaveCount(0);
  await page.clock.fastForward(30_000);
  await expect(page.getByText('Resend in 29 seconds')).toBeVisible();
  await expect(page.getByText('look in your spam')).toBeVisible();
  await page.clock.fastForward(29_000);

  await page.getByRole('button', { name: 'Resend Code' }).click();
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await expect(visitor.toast).toContainText('Success!');
  const second = await visitor.mailedCode(2);
  expect(site.inbox.mailsTo(visitor.email)).toHaveLength(2);
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  expect(second).not.toBe(first);
  // The first mail was only slow: its code is as good.
  await page.clock.resume();
  await visitor.enterCode(first);
  await expect(page.getByRole('article')).toBeVisible();
});

test('a resend that fails gives the button back', async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.askForCode();
  await page.clock.fastForward(60_000);
  await page.route('**/api/leads', (route) => route.fulfill({ status: 503, body: 'Not now.' }), { times: 1 });
  await page.getByRole('button', { name: 'Resend Code' }).click();
  await expect(visitor.toast).toContainText('503: Not now.');
  await expect(page.getByRole('button', { name: 'Resend Code' })).toBeVisible();
});

test('a wrong address leads back to the form with everything kept', async ({ page, visitor }) => {
  await visitor.askForCode();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(page.getByLabel('Work Email *')).toHaveValue(visitor.email);
  await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
  await expect(page.getByRole('checkbox')).toBeChecked();
});

test('a code that is pasted while another one is checked is sent after it', async ({
  page,
  visitor,
  context,
  site,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.url });
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const wrong = code === '000000' ? '000001' : '000000';
  const held = Promise.withResolvers<void>();
  const asked: string[] = [];
  await page.route('**/api/verify', async (route) => {
    asked.push((route.request().postDataJSON() as { code: string }).code);
    if (asked.length === 1) await held.promise;
    await route.continue();
  });
  await visitor.enterCode(wrong);
  await expect(visitor.box(1)).toBeDisabled();
  await page.evaluate((text) => navigator.clipboard.writeText(text), code);
  await page.keyboard.press('Control+V');
  expect(await visitor.boxValues()).toBe(wrong);
  held.resolve();
  await expect(page.getByRole('article')).toBeVisible();
  expect(asked).toEqual([wrong, code]);
});

test('a clock that is set back does not stop the countdown', async ({ page, visitor }) => {
  await page.addInitScript(() => {
    const clock = Date.now.bind(Date);
    Date.now = () => clock() + Number(document.documentElement.dataset['clockSet'] ?? 0);
  });
  await page.goto('/');
  await visitor.askForCode();
  await page.evaluate(() => (document.documentElement.dataset['clockSet'] = '-3600000'));
  await expect(page.getByText(/^Resend in 5[0-7] seconds$/)).toBeVisible();
});
