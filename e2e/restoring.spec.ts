import { expect, hold, requestsTo, test } from './fixtures.ts';

const PORTAL = { status: 200, contentType: 'text/html', body: '<!doctype html><p>Please sign in.' };

test('a press restores the code screen after a failed reload', async ({ page, visitor, site }) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  const calls = requestsTo(page, '/api/challenge');
  for (const answer of [null, PORTAL]) {
    await page.route('**/api/challenge**', (route) => (answer ? route.fulfill(answer) : route.abort()));
    await page.reload();
    const sentence = page.getByText('Your code screen could not be brought back.');
    await expect(sentence).toBeVisible();
    await expect(visitor.codeScreen).toBeVisible();
    const tryAgain = page.getByRole('button', { name: 'Try again' });
    const before = calls.length;
    await tryAgain.click();
    await expect.poll(() => calls.length).toBeGreaterThan(before);
    await expect(sentence).toBeVisible();
    await expect(tryAgain).toBeFocused();
    await page.unroute('**/api/challenge**');
    await tryAgain.click();
    await expect(page.getByText(visitor.email)).toBeVisible();
    await expect(visitor.box(1)).toBeVisible();
  }
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
  await page.goBack();
  await visitor.openArticle(code);
  expect(site.inbox.mailsTo(visitor.email)).toHaveLength(1);
});

for (const next of ['a reload', 'a reload without the session', 'another press'] as const)
  test(`${next} recovers a lost response to the right code`, async ({ page, visitor, context }) => {
    await visitor.startAtCode();
    const code = await visitor.mailedCode();
    const checked = Promise.withResolvers<void>();
    await page.route(
      '**/api/verify',
      async (route) => {
        expect((await route.fetch()).status()).toBe(200);
        if (next !== 'a reload') await context.clearCookies({ name: 'session' });
        if (next === 'another press') await route.abort('connectionreset');
        checked.resolve();
      },
      { times: 1 },
    );
    await visitor.enterCode(code);
    await checked.promise;
    if (next === 'another press') await page.getByRole('button', { name: 'Try again' }).click();
    else await page.reload();
    if (next === 'a reload without the session') {
      await expect(page.getByText(visitor.email)).toBeVisible();
      await visitor.enterCode(code);
    }
    await expect(visitor.article).toBeVisible();
  });

test('Forward returns to a code screen unless its code is gone', async ({ page, visitor, context }) => {
  await visitor.startAtForm();
  await visitor.sendValidForm();
  await page.goBack();
  await expect(visitor.form).toBeVisible();
  await page.reload();
  await expect(visitor.form).toBeVisible();
  await page.goForward();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await context.clearCookies();
  for (let reloads = 0; reloads < 2; reloads += 1) {
    await page.reload();
    await expect(visitor.form).toBeVisible();
    await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
  }
});

test('a reload after Back keeps the corrected address', async ({ page, visitor }) => {
  await visitor.startAtCode();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  const email = `corrected-${visitor.email}`;
  await visitor.fillForm({ email });
  await visitor.sendFilledForm();
  for (const stage of [visitor.form, visitor.codeScreen]) {
    await page.goBack();
    await expect(stage).toBeVisible();
  }
  await page.reload();
  await expect(page.getByText(email)).toBeVisible();
});

test('a slow reload shows a sign that the page is loading', async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.startAtCode();
  const releaseSecond = await hold(page, '**/assets/second-*');
  await Promise.all([page.waitForRequest('**/assets/second-*'), page.reload()]);
  await page.clock.fastForward(2_000);
  await expect(page.getByText('One moment')).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused();
  releaseSecond();
  await expect(page.getByText(visitor.email)).toBeVisible();

  const releaseApp = await hold(page, '**/assets/app-*');
  await Promise.all([page.waitForRequest('**/assets/app-*'), page.reload()]);
  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded completely' });
  await expect(alert).toBeHidden();
  await page.clock.fastForward(15_000);
  await expect(alert).toBeVisible();
  releaseApp();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await expect(alert).toBeHidden();
});

test('a failed first script is reported until it loads, and then loads the second one once', async ({
  page,
  visitor,
  expectedErrors,
}) => {
  await page.clock.install();
  expectedErrors.push(/assets\/app-/);
  const failures = requestsTo(page, /assets\/app-/);
  const second = requestsTo(page, '/assets/second-');
  await page.route('**/assets/app-*', (route) => route.abort());
  await page.goto('/');
  const button = page.getByRole('button', { name: 'Get Your Free Copy', exact: true });
  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded completely' });
  const pressInVain = async () => {
    await button.click();
    await expect
      .poll(async () => {
        await page.clock.fastForward(500);
        return alert.isVisible();
      })
      .toBe(true);
  };
  await pressInVain();
  expect(failures.length).toBeGreaterThanOrEqual(3);
  // Firefox would not fetch a failed URL again.
  const failed = failures.map((request) => request.url());
  await button.click();
  await expect.poll(() => failures.length).toBeGreaterThan(failed.length);
  expect(failed).not.toContain(failures[failed.length]?.url());
  await alert.getByRole('link', { name: 'try again' }).click();
  await expect(alert).toBeHidden();
  await pressInVain();
  await page.unroute('**/assets/app-*');
  await button.click();
  await expect(visitor.form).toBeVisible();
  await visitor.sendValidForm();
  expect(second).toHaveLength(1);
  // No failed attempt reports itself later.
  await page.clock.fastForward(15_000);
  await expect(alert).toBeHidden();
});

test('"try again" after a failed load keeps the code screen', async ({ page, visitor, expectedErrors }) => {
  expectedErrors.push(/assets\/app-/);
  await visitor.startAtCode();
  await page.route('**/assets/app-*', (route) => route.abort());
  await page.reload();
  const tryAgain = page.getByRole('alert').getByRole('link', { name: 'try again' });
  await expect(tryAgain).toBeVisible();
  await page.unroute('**/assets/app-*');
  await tryAgain.click();
  await expect(page.getByText(visitor.email)).toBeVisible();
});

test('a key pressed during a reload does not start the application twice', async ({ page, visitor }) => {
  await visitor.startAtCode();
  await page.addInitScript(() => {
    document.addEventListener('readystatechange', () => {
      if (document.readyState === 'interactive') document.dispatchEvent(new KeyboardEvent('keydown'));
    });
  });
  const styleSheets = () => page.evaluate(() => document.adoptedStyleSheets.length);
  const before = await styleSheets();
  await page.reload();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await page.evaluate(() => fetch('/api/live'));
  expect(await styleSheets()).toBe(before);
});

test('the code screen survives a failed reload', async ({ page, visitor, context, expectedErrors }) => {
  expectedErrors.push(/ERR_INTERNET_DISCONNECTED/);
  await visitor.startAtCode();
  const devtools = await context.newCDPSession(page);
  await context.setOffline(true);
  await page.reload().catch(() => {});
  await context.setOffline(false);
  await devtools.send('Page.reload');
  await expect(visitor.codeScreen).toBeVisible();
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Get Your Free Copy', exact: true })).toBeVisible();
  await expect(visitor.codeScreen).toHaveCount(0);
});
