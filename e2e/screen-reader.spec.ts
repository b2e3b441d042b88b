// Compares each stage's accessibility tree with e2e/screen-reader/. After a change, read the new tree as a blind visitor, then
// store it with npm run test:screen-reader:renew.
import { fulfillNext, expect, listen, stopClock, test, withoutArticle, wrongFor } from './fixtures.ts';

const HEAD = `# What a screen reader meets here, in order. Renewed by: npm run test:screen-reader:renew
`;

test('the accessibility tree of each stage is as recorded', async ({ page, visitor, expectedErrors }) => {
  test.slow();
  expectedErrors.push(/404 \(Not Found\)/);
  const expectKept = async (stage: string) => {
    const tree = await page.locator('body').ariaSnapshot();
    const kept = tree
      .replaceAll(visitor.email, 'visitor@example.com')
      .replace(/reference [A-Z]{3}\b/g, 'reference ABC')
      .replace(/© \d{4}/, '© 2026');
    expect(`${HEAD}${kept}\n`).toMatchSnapshot(`${stage}.yml`);
  };
  await page.clock.install();
  await page.goto('/');
  await expectKept('landing');
  await visitor.openForm();
  await expect(page.getByRole('region', { name: /^Notifications/ })).toBeAttached();
  await expectKept('form');
  await visitor.sendForm();
  await expectKept('form-with-errors');

  await visitor.fillForm();
  await stopClock(page);
  await visitor.sendForm();
  const code = await visitor.mailedCode();
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await page.clock.runFor(10_000);
  await expect(visitor.toast).toHaveCount(0);
  await expectKept('code');
  await visitor.enterCode(wrongFor(code));
  await expect(visitor.toast).toContainText('Verification Failed');
  await page.clock.runFor(2_000);
  await expect(visitor.box(1)).toBeEnabled();
  await expectKept('code-refused');

  await page.clock.resume();
  await withoutArticle(page);
  await fulfillNext(page, '**/api/article', { status: 500, body: '' });
  await visitor.enterCode(code);
  await expect(page.getByRole('alert')).toBeVisible();
  await page.clock.runFor(10_000);
  await expect(visitor.toast).toHaveCount(0);
  await expectKept('article-not-loaded');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(visitor.article).toBeVisible();
  await expectKept('article');
  await page.goto('/nowhere');
  await expectKept('not-found');
});

test('a screen reader announces events once and the countdown twice a minute', async ({ page, visitor }) => {
  test.slow();
  const said = await listen(page);
  let heard = 0;
  const saidSince = async () => {
    const all = await said();
    const fresh = all.slice(heard);
    heard = all.length;
    return fresh;
  };
  await page.clock.install();
  await visitor.startAtFilledForm({ email: 'ada@gmial.com' });
  await page.getByLabel('Full Name *').focus();
  await expect.poll(said).toEqual(['Did you mean ada@gmail.com?']);
  await visitor.fillForm();
  await saidSince();
  await stopClock(page);
  await visitor.sendForm();
  const code = await visitor.mailedCode();
  await expect(page.getByText('Resend in 60 seconds')).toBeVisible();
  await page.clock.runFor(1_000);
  expect((await saidSince()).toSorted()).toEqual([
    'Notification Success! Please check your email for the verification code.',
    'You can ask for a new code in 60 seconds.',
  ]);
  await page.clock.runFor(55_000);
  expect(await saidSince()).toEqual(['You can ask for a new code in 30 seconds.']);
  await page.clock.runFor(10_000);
  expect(await saidSince()).toEqual(['You can ask for a new code now.']);
  await page.clock.resume();

  // Delays the response, because a fast one could arrive before the check is announced.
  await page.route('**/api/verify', async (route) => {
    await page.getByText('Verifying code...').waitFor();
    await route.continue();
  });
  await visitor.enterCode(wrongFor(code));
  await expect(visitor.toast).toContainText('Verification Failed');
  await page.clock.runFor(1_000);
  expect((await saidSince()).filter((text) => !text.startsWith('You can ask'))).toEqual([
    'Verifying code...',
    'Notification Verification Failed',
  ]);
  await page.clock.runFor(10_000);

  await visitor.openArticle(code);
  await expect.poll(said).toContain('Notification Verified! Access granted. Enjoy the content!');
  await page.clock.runFor(1_000);
  const last = await saidSince();
  expect(last.filter((text) => text !== 'Opening the guide…').toSorted()).toEqual([
    'Notification Verified! Access granted. Enjoy the content!',
    'Verifying code...',
  ]);
  await page.clock.runFor(20_000);
  expect(await saidSince()).toEqual([]);
});
