// Keyboards and screen readers keep their place: the focus never falls back to the page as a whole.
import { expect, loadedFonts, openWithFonts, test, withoutArticle, type Visitor } from './fixtures.ts';

/** A button by its name, of the page and not of a toast. */
const buttonOf = (visitor: Visitor, name: string) => visitor.page.getByRole('button', { name, exact: true });

test('after a failed submission the button has the focus again, and a field keeps it', async ({
  page,
  visitor,
}) => {
  await page.goto('/');
  await visitor.openForm();
  await visitor.fillForm();
  await page.route('**/api/leads', (route) => route.fulfill({ status: 503, body: 'Not now.' }));
  const send = buttonOf(visitor, 'Send Verification Code');
  await send.focus();
  for (const key of ['Enter', 'Space']) {
    const answered = page.waitForResponse('**/api/leads');
    await page.keyboard.press(key);
    await answered;
    await expect(send).toBeEnabled();
    await expect(send).toBeFocused();
  }
  const name = page.getByLabel('Full Name *');
  await name.press('Enter');
  await expect(send).toBeEnabled();
  await expect(name).toBeFocused();
});

test('taking the suggested address leads back to the field', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.openForm();
  await visitor.fillForm({ email: 'ada@gmial.com' });
  await buttonOf(visitor, 'Did you mean ada@gmail.com?').press('Enter');
  await expect(page.getByLabel('Work Email *')).toHaveValue('ada@gmail.com');
  await expect(page.getByLabel('Work Email *')).toBeFocused();
});

test('Resend leads to the boxes, where the new code goes', async ({ page, visitor }) => {
  await page.clock.install();
  await page.goto('/');
  await visitor.askForCode();
  await page.clock.fastForward(60_000);
  // The countdown begins with the answer: a minute that passes before it does not count.
  const answered = page.waitForResponse('**/api/leads');
  await buttonOf(visitor, 'Resend Code').press('Enter');
  await (await answered).finished();
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await expect(visitor.box(1)).toBeFocused();
  // The tries were used up: the boxes of a new challenge take the place of the old ones.
  await page.clock.fastForward(60_000);
  await page.route(
    '**/api/leads',
    (route) =>
      route.fulfill({ status: 202, json: { challengeId: 'another', reference: 'ABC', resendSeconds: 60 } }),
    {
      times: 1,
    },
  );
  await visitor.box(1).evaluate((box) => box.setAttribute('data-old', ''));
  await buttonOf(visitor, 'Resend Code').press('Enter');
  await expect(page.locator('[data-old]')).toHaveCount(0);
  await expect(visitor.box(1)).toBeFocused();
  await page.clock.fastForward(60_000);
  await page.route('**/api/leads', (route) => route.fulfill({ status: 503, body: 'Not now.' }), { times: 1 });
  await buttonOf(visitor, 'Resend Code').press('Enter');
  await expect(visitor.toast).toContainText('503: Not now.');
  await expect(visitor.box(1)).toBeFocused();
});

test('Resend while a code is being checked leads to the title, because the boxes take no focus then', async ({
  page,
  visitor,
}) => {
  await page.clock.install();
  await page.goto('/');
  await visitor.askForCode();
  await page.route('**/api/verify', () => {});
  await page.clock.fastForward(60_000);
  await visitor.enterCode('123456');
  await expect(page.getByText('Verifying code...')).toBeVisible();
  await buttonOf(visitor, 'Resend Code').press('Enter');
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeFocused();
});

test('after "Try again" one is at the title of the article, and the next key leads to it again', async ({
  page,
  visitor,
}) => {
  await withoutArticle(page);
  await page.route('**/api/article', (route) => route.fulfill({ status: 503, body: 'Not now.' }), {
    times: 2,
  });
  await page.goto('/');
  await visitor.askForCode();
  await visitor.enterCode(await visitor.mailedCode());
  const title = page.getByRole('heading', { level: 1 });
  const again = buttonOf(visitor, 'Try again');
  const refused = page.waitForResponse('**/api/article');
  await again.press('Enter');
  await refused;
  await expect(title).toBeFocused();
  await expect(again).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(again).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('article')).toBeVisible();
  await expect(title).toBeFocused();
});

test('a reload of form, code screen and article begins where the stage begins', async ({ page, visitor }) => {
  const focused = page.locator('main :focus');
  await page.goto('/');
  await visitor.openForm();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
  await expect(focused).toHaveCount(1);
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  const code = await visitor.mailedCode();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  // The heading has it until the server has said that a code is waited for; there are no boxes before that.
  await expect(visitor.box(1)).toBeFocused();
  await page.keyboard.type(code);
  await expect(page.getByRole('article')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('article')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
});

for (const height of [800, 430]) {
  test(`"Wrong address?" leads to the address, in sight at a height of ${height}`, async ({
    page,
    visitor,
  }) => {
    await page.setViewportSize({ width: 375, height });
    await page.goto('/');
    await visitor.askForCode();
    await buttonOf(visitor, 'Wrong address?').press('Enter');
    const email = page.getByLabel('Work Email *');
    await expect(email).toBeFocused();
    await expect(email).toBeInViewport({ ratio: 1 });
    // The next time the form is opened it begins at its beginning again.
    await page.goBack();
    await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
    await page.goForward();
    await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  });
}

for (const [name, width] of [
  ['Get Your Free Copy Now', 1280],
  ['Get Your Free Copy Now', 375],
  ['Get Your Free Copy', 375],
] as const) {
  test(`Back from the form opened by "${name}" at ${width} px returns to that button, where the page stood`, async ({
    page,
    visitor,
  }) => {
    await page.setViewportSize({ width, height: 800 });
    await openWithFonts(page);
    const action = buttonOf(visitor, name);
    await action.scrollIntoViewIfNeeded();
    // Not where the browser would put it by itself.
    await page.evaluate(() => window.scrollBy(0, 37));
    const top = () => action.evaluate((button) => Math.round(button.getBoundingClientRect().top));
    // At the press: to be able to press, Playwright may scroll once more.
    const pressed = action.evaluate(
      (button) =>
        new Promise<number>((resolve) => {
          const noteTop = () => resolve(Math.round(button.getBoundingClientRect().top));
          button.addEventListener('pointerdown', noteTop, { once: true, capture: true });
        }),
    );
    await action.click();
    const before = await pressed;
    await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
    // A reload in between forgets nothing.
    for (const reload of [false, true]) {
      if (reload) {
        await page.reload();
        await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
      }
      await page.goBack();
      await expect(action).toBeFocused();
      await expect(action).toBeInViewport({ ratio: 0.9 });
      await expect.poll(top).toBe(before);
      await page.goForward();
      await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
    }
    // The product title leads to the beginning.
    await page.getByRole('banner').getByRole('link').click();
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
    expect(await page.evaluate(() => window.scrollY)).toBe(0);
  });
}

test('fonts that arrive after Back do not take the button away, until the visitor moves the page', async ({
  page,
  visitor,
}) => {
  await page.setViewportSize({ width: 375, height: 800 });
  await openWithFonts(page);
  const action = buttonOf(visitor, 'Get Your Free Copy');
  const top = () => action.evaluate((button) => Math.round(button.getBoundingClientRect().top));
  await action.scrollIntoViewIfNeeded();
  await page.evaluate(() => window.scrollBy(0, 37));
  const before = await top();
  await action.press('Enter');
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  for (const moves of [false, true]) {
    const fonts = Promise.withResolvers<void>();
    await page.route('**/*.woff2', async (route) => {
      await fonts.promise;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
    await page.goBack();
    await expect(action).toBeFocused();
    await expect.poll(top).toBe(before);
    // Longer than the browser's own scrolling is expected.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    if (moves) {
      await page.mouse.wheel(0, 200);
      await expect.poll(top).toBe(before - 200);
    }
    fonts.resolve();
    await expect
      .poll(() => loadedFonts(page))
      .toEqual(expect.arrayContaining(['Newsreader', 'Hanken Grotesk']));
    if (!moves) await expect.poll(top).toBe(before);
    else expect(await top()).toBeLessThan(before - 100);
    await page.unroute('**/*.woff2');
    await page.goForward();
    await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
  }
});

test('a browser that restores its own place late does not take the button away', async ({
  page,
  visitor,
}) => {
  await page.addInitScript(() => {
    // As a busy machine does: some frames after the landing page is there again.
    addEventListener('popstate', () => setTimeout(() => window.scrollTo(0, 0), 150));
  });
  await page.goto('/');
  const action = buttonOf(visitor, 'Get Your Free Copy Now');
  await action.scrollIntoViewIfNeeded();
  await action.click();
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  await page.goBack();
  await expect(action).toBeFocused();
  // Not yet gone, and there for good: both sides of the browser's move.
  await page.waitForFunction(() => window.scrollY > 0);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)));
  await expect(action).toBeInViewport({ ratio: 0.9 });
  // A scroll without key, wheel or pointer after it, as of a screen reader or by voice, is the visitor's own.
  const moved = await page.evaluate(async () => {
    window.scrollTo(0, 500);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return window.scrollY;
  });
  expect(moved).toBe(500);
});

test('closing a toast gives the focus back to where it was', async ({ page, visitor }) => {
  await page.clock.install();
  await page.goto('/');
  await visitor.openForm();
  await visitor.fillForm();
  await page.route('**/api/leads', (route) => route.fulfill({ status: 503, body: 'Not now.' }));
  const send = buttonOf(visitor, 'Send Verification Code');
  const close = visitor.toast.getByRole('button', { name: 'Close notification' });
  const waysToClose = [
    () => close.click(),
    () => close.press('Enter'),
    async () => {
      await page.keyboard.press('F8');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await expect(close).toBeFocused();
      await page.keyboard.press('Enter');
    },
  ];
  for (const closeIt of waysToClose) {
    await send.focus();
    await page.keyboard.press('Enter');
    await expect(visitor.toast).toBeVisible();
    await expect(send).toBeFocused();
    await closeIt();
    await expect(visitor.toast).toHaveCount(0);
    await expect(send).toBeFocused();
  }
  // And one that comes after that closes by itself as ever.
  await page.keyboard.press('Enter');
  await expect(visitor.toast).toBeVisible();
  await page.clock.runFor(5500);
  await expect(visitor.toast).toHaveCount(0);
});
