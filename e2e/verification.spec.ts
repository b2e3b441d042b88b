import { fulfillNext, bodiesOf, expect, hold, requestsTo, stopClock, test, wrongFor } from './fixtures.ts';

test('typing a code fills the boxes one by one and verifies the code once', async ({ page, visitor }) => {
  const calls = requestsTo(page, '/api/verify');
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  await expect(visitor.box(1)).toBeFocused();
  const group = page.getByRole('group', { name: 'Verify Your Email 6-digit code' });
  await expect(group).toHaveAccessibleDescription(`We sent a 6-digit code to ${visitor.email}.`);
  for (const number of [1, 2, 3, 4, 5, 6]) {
    await expect(visitor.box(number)).toHaveAttribute('inputmode', 'numeric');
    await expect(visitor.box(number)).toHaveAttribute('autocomplete', 'one-time-code');
    await expect(visitor.box(number)).toHaveAttribute('enterkeyhint', number === 6 ? 'done' : 'next');
    await expect(visitor.box(number)).toHaveAccessibleName(`Digit ${number} of 6`);
  }
  await visitor.box(1).click();
  await page.keyboard.type('x-');
  await page.keyboard.insertText('½²');
  expect(await visitor.boxValues()).toBe('______');
  await visitor.enterCode('123');
  for (const [key, number, values] of [
    ['Backspace', 3, '123___'],
    ['Backspace', 3, '12____'],
    ['ArrowLeft', 2, '12____'],
    ['Backspace', 2, '1_____'],
    ['Backspace', 1, '1_____'],
    ['Backspace', 1, '______'],
  ] as const) {
    await page.keyboard.press(key);
    await expect(visitor.box(number), key).toBeFocused();
    expect(await visitor.boxValues(), key).toBe(values);
  }
  const zeros = ['٠', '０', '0', '۰', '०', '০'];
  for (const [index, zero] of zeros.entries()) {
    await expect(visitor.box(index + 1)).toBeFocused();
    await page.keyboard.insertText(String.fromCodePoint((zero.codePointAt(0) ?? 0) + Number(code[index])));
  }
  await expect(visitor.article).toBeVisible();
  expect(bodiesOf(calls)).toEqual([{ email: visitor.email, code }]);
});

test('a pasted or autofilled code is verified, whichever box receives it', async ({ page, visitor }) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  const wrong = wrongFor(code);
  const calls = requestsTo(page, '/api/verify');
  await visitor.box(4).focus();
  await visitor.paste(`Your code for the guide is ${wrong}. It is valid for 10 minutes.`);
  await expect(visitor.toast).toContainText('Verification Failed');
  await expect(visitor.box(1)).toBeFocused();
  expect(await visitor.boxValues()).toBe('______');
  await visitor.box(1).evaluate((input: HTMLInputElement, value) => {
    // Autofill sends one input event for the whole value.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, value);
    input.dispatchEvent(
      new InputEvent('input', { bubbles: true, inputType: 'insertReplacementText', data: value }),
    );
  }, code);
  await expect(visitor.article).toBeVisible();
  expect(bodiesOf(calls)).toMatchObject([{ code: wrong }, { code }]);
});

test('the code boxes are disabled while a code is verified, and then emptied', async ({ page, visitor }) => {
  let release = () => {};
  const asked: string[] = [];
  // One route handles all codes, because a request could get through between two routes.
  await page.route('**/api/verify', async (route) => {
    asked.push((route.request().postDataJSON() as { code: string }).code);
    if (asked.length === 2) return route.fulfill({ status: 400, body: '' });
    if (asked.length < 4) await new Promise<void>((resolve) => (release = resolve));
    return route.continue();
  });
  const answerOf = async (call: number) => {
    await expect.poll(() => asked.length).toBe(call);
    release();
  };
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  const wrong = wrongFor(code);
  await visitor.enterCode(wrong);
  await expect(page.getByRole('status').filter({ hasText: 'Verifying code...' })).toBeVisible();
  for (const number of [1, 6]) await expect(visitor.box(number)).toBeDisabled();
  // The same code, pasted again, must not count as another attempt.
  await visitor.paste(wrong);
  await answerOf(1);
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

  await page.keyboard.type(wrong);
  await expect(visitor.box(1)).toBeDisabled();
  await expect(visitor.box(6)).not.toBeFocused();
  await visitor.paste(code);
  expect(await visitor.boxValues()).toBe(wrong);
  await answerOf(3);
  await expect(visitor.article).toBeVisible();
  expect(asked).toEqual([wrong, '999999', wrong, code]);
});

test('a code that could not be checked can be pasted again after a resend', async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  await fulfillNext(page, '**/api/verify', null);
  await visitor.enterCode(code);
  const tryAgain = page.getByRole('button', { name: 'Try again' });
  await expect(tryAgain).toBeVisible();
  await page.clock.fastForward(60_000);
  await page.getByRole('button', { name: 'Resend Code' }).click();
  await expect(tryAgain).toHaveCount(0);
  await expect(page.getByText('Your code could not be checked.')).toHaveCount(0);
  await visitor.paste(code);
  await expect(visitor.article).toBeVisible();
});

test('the resend countdown runs for 60 seconds, again after a resend', async ({ page, visitor, site }) => {
  await page.clock.install();
  await visitor.startAtFilledForm();
  await stopClock(page);
  await visitor.sendForm();
  const first = await visitor.mailedCode();
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Resend Code' })).toHaveCount(0);
  await page.clock.runFor(1000);
  await expect(page.getByText('Resend in 59 seconds')).toBeVisible();
  const advice = page.getByRole('heading', { name: 'Nothing yet?' });
  await expect(advice).toHaveCount(0);
  await page.clock.fastForward(19_000);
  await expect(page.getByText('Resend in 40 seconds')).toBeVisible();
  await expect(advice.locator('..').getByRole('listitem')).toHaveCount(4);
  await expect(page.getByText('look in your spam')).toBeVisible();
  await expect(visitor.box(1)).toBeFocused();
  await page.clock.fastForward(40_000);

  await page.getByRole('button', { name: 'Resend Code' }).click();
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await expect(visitor.toast).toContainText('Success!');
  const second = await visitor.mailedCode(2);
  expect(site.inbox.mailsTo(visitor.email)).toHaveLength(2);
  await expect(visitor.codeScreen).toBeVisible();
  expect(second).not.toBe(first);
  await page.clock.resume();
  await visitor.openArticle(first);
});

test('a failed resend restores the button, a successful one focuses the boxes', async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.startAtCode();
  const resend = page.getByRole('button', { name: 'Resend Code' });
  await page.clock.fastForward(60_000);
  const response = page.waitForResponse('**/api/leads');
  await resend.press('Enter');
  await (await response).finished();
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await expect(visitor.box(1)).toBeFocused();

  await page.clock.fastForward(60_000);
  await fulfillNext(page, '**/api/leads', {
    status: 202,
    json: { challengeId: 'another', reference: 'ABC', resendSeconds: 60 },
  });
  await visitor.box(1).evaluate((box) => box.setAttribute('data-old', ''));
  await resend.press('Enter');
  await expect(page.locator('[data-old]')).toHaveCount(0);
  await expect(visitor.box(1)).toBeFocused();

  await page.clock.fastForward(60_000);
  await fulfillNext(page, '**/api/leads', { status: 503, body: 'Not now.' });
  await resend.press('Enter');
  await expect(visitor.toast).toContainText('503: Not now.');
  await expect(visitor.box(1)).toBeFocused();
  await expect(resend).toBeVisible();

  await hold(page, '**/api/verify');
  await visitor.enterCode('123456');
  await expect(page.getByText('Verifying code...')).toBeVisible();
  await resend.press('Enter');
  await expect(visitor.codeScreen).toBeFocused();
});

test('setting the clock back does not stop the resend countdown', async ({ page, visitor }) => {
  await page.addInitScript(() => {
    const clock = Date.now.bind(Date);
    Date.now = () => clock() + Number(document.documentElement.dataset['clockSet'] ?? 0);
  });
  await visitor.startAtCode();
  await page.evaluate(() => (document.documentElement.dataset['clockSet'] = '-3600000'));
  const seconds = async () => Number.parseInt((await page.getByText(/^Resend in/).innerText()).slice(10), 10);
  const first = await seconds();
  await expect.poll(seconds).toBeLessThan(first - 1);
});
