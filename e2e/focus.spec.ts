import {
  expect,
  fulfillNext,
  hold,
  openWithFonts,
  requestsTo,
  resize,
  test,
  waitForFonts,
  withoutArticle,
  type Visitor,
} from './fixtures.ts';

test.use({ reducedMotion: 'no-preference' });

const buttonOf = (visitor: Visitor, name: string) => visitor.page.getByRole('button', { name, exact: true });

test('the focus returns after a failed submission and after a closed toast', async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.startAtFilledForm();
  await page.route('**/api/leads', (route) => route.fulfill({ status: 503, body: 'Not now.' }));
  const send = buttonOf(visitor, 'Send Verification Code');
  const name = page.getByLabel('Full Name *');
  for (const [part, key] of [
    [send, 'Enter'],
    [send, 'Space'],
    [name, 'Enter'],
  ] as const) {
    const response = page.waitForResponse('**/api/leads');
    await part.press(key);
    await response;
    await expect(send).toBeEnabled();
    await expect(part).toBeFocused();
  }

  const close = visitor.toast.getByRole('button', { name: 'Close notification' });
  for (const closeIt of [
    () => close.click(),
    () => close.press('Enter'),
    async () => {
      await page.keyboard.press('F8');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await expect(close).toBeFocused();
      await page.keyboard.press('Enter');
    },
  ]) {
    await send.press('Enter');
    await expect(visitor.toast).toBeVisible();
    await expect(send).toBeFocused();
    await closeIt();
    await expect(visitor.toast).toHaveCount(0);
    await expect(send).toBeFocused();
  }
  await send.press('Enter');
  await expect(visitor.toast).toBeVisible();
  await page.clock.runFor(5500);
  await expect(visitor.toast).toHaveCount(0);
});

test('"Try again" moves the focus to the title of the article', async ({ page, visitor }) => {
  await withoutArticle(page);
  await fulfillNext(page, '**/api/article', { status: 503, body: 'Not now.' }, 2);
  const calls = requestsTo(page, '/api/article');
  await visitor.startAtCode();
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
  await expect(visitor.article).toBeVisible();
  await expect(title).toBeFocused();
  expect(calls).toHaveLength(3);
});

test('a reload focuses the start of the current stage and keeps its title', async ({ page, visitor }) => {
  await page.goto('/');
  const landing = await page.title();
  await visitor.openForm();
  await expect(page).toHaveTitle(/^Get Your Free Copy · /);
  await page.reload();
  await expect(visitor.form).toBeVisible();
  await expect(page).toHaveTitle(/^Get Your Free Copy · /);
  await expect(page.locator('main :focus')).toHaveCount(1);
  await page.goBack();
  await expect(page).toHaveTitle(landing);
  await page.goForward();
  await visitor.sendValidForm();
  await expect(page).toHaveTitle(/^Verify Your Email · /);
  const code = await visitor.mailedCode();
  await page.reload();
  await expect(visitor.codeScreen).toBeVisible();
  await expect(visitor.box(1)).toBeFocused();
  await page.keyboard.type(code);
  await expect(page).toHaveTitle(/^Your Guide · /);
  await page.reload();
  await expect(visitor.article).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
});

test('"Wrong address?" focuses the e-mail address and keeps all input', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.askForCode();
  for (const height of [800, 430]) {
    await resize(page, { width: 375, height });
    await buttonOf(visitor, 'Wrong address?').press('Enter');
    const email = page.getByLabel('Work Email *');
    await expect(email, `height ${height}`).toBeFocused();
    await expect(email, `height ${height}`).toBeInViewport({ ratio: 1 });
    await expect(email).toHaveValue(visitor.email);
    await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
    await expect(page.getByRole('checkbox')).toBeChecked();
    await page.goBack();
    await expect(visitor.codeScreen).toBeVisible();
    await page.goForward();
    await expect(visitor.form).toBeFocused();
    await page.goBack();
    await expect(visitor.codeScreen).toBeVisible();
  }
});

test('Back from the form focuses the button that opened it, in its place', async ({ page, visitor }) => {
  await openWithFonts(page);
  const action = buttonOf(visitor, 'Get Your Free Copy Now');
  await action.scrollIntoViewIfNeeded();
  await page.evaluate(() => window.scrollBy(0, 37));
  const top = () => action.evaluate((button) => Math.round(button.getBoundingClientRect().top));
  // Measured at the press, because Playwright may scroll before it.
  const pressed = action.evaluate(
    (button) =>
      new Promise<number>((resolve) => {
        const noteTop = () => resolve(Math.round(button.getBoundingClientRect().top));
        button.addEventListener('pointerdown', noteTop, { once: true, capture: true });
      }),
  );
  await action.click();
  const before = await pressed;
  await expect(visitor.form).toBeFocused();
  for (const reload of [false, true]) {
    if (reload) {
      await page.reload();
      await expect(visitor.form).toBeVisible();
    }
    await page.goBack();
    await expect(action).toBeFocused();
    await expect(action).toBeInViewport({ ratio: 0.9 });
    await expect.poll(top).toBe(before);
    await page.goForward();
    await expect(visitor.form).toBeVisible();
  }
  await page.getByRole('banner').getByRole('link').click();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
});

test('fonts that load after Back do not move the focused button out of view', async ({ page, visitor }) => {
  await resize(page, { width: 375, height: 800 });
  await openWithFonts(page);
  const action = buttonOf(visitor, 'Get Your Free Copy');
  const top = () => action.evaluate((button) => Math.round(button.getBoundingClientRect().top));
  await action.scrollIntoViewIfNeeded();
  await page.evaluate(() => window.scrollBy(0, 37));
  const before = await top();
  await action.press('Enter');
  await expect(visitor.form).toBeFocused();
  for (const moves of [false, true]) {
    const release = await hold(page, '**/*.woff2');
    await page.reload({ waitUntil: 'commit' });
    await expect(visitor.form).toBeVisible();
    await page.goBack();
    await expect(action).toBeFocused();
    await expect.poll(top).toBe(before);
    // Longer than the browser's own scrolling can take.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
    if (moves) {
      await page.mouse.wheel(0, 200);
      await expect.poll(top).toBe(before - 200);
    }
    release();
    await waitForFonts(page);
    if (!moves) await expect.poll(top).toBe(before);
    else expect(await top()).toBeLessThan(before - 100);
    await page.unroute('**/*.woff2');
    await page.goForward();
    await expect(visitor.form).toBeVisible();
  }
});

test('late scrolling after Back does not move the focused button out of view', async ({ page, visitor }) => {
  await page.addInitScript(() => {
    addEventListener('popstate', () => setTimeout(() => window.scrollTo(0, 0), 150));
  });
  await page.goto('/');
  const action = buttonOf(visitor, 'Get Your Free Copy Now');
  await action.scrollIntoViewIfNeeded();
  await action.click();
  await expect(visitor.form).toBeFocused();
  await page.goBack();
  await expect(action).toBeFocused();
  await page.waitForFunction(() => window.scrollY > 0);
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)));
  await expect(action).toBeInViewport({ ratio: 0.9 });
  const moved = await page.evaluate(async () => {
    window.scrollTo(0, 500);
    await new Promise((resolve) => setTimeout(resolve, 200));
    return window.scrollY;
  });
  expect(moved).toBe(500);
});
