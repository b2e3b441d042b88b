import { boxOf, delayed, expect, hold, listen, requestsTo, resize, test } from './fixtures.ts';

test('the code boxes and a link to the mailbox fit above a phone keyboard', async ({ page, visitor }) => {
  await resize(page, { width: 375, height: 430 });
  const email = `somebody-with-a-long-name-${process.pid}@googlemail.com`;
  await visitor.startAtCode({ email });
  // Otherwise, an open keyboard covers the page of Chrome on Android instead of making it less high.
  const viewport = page.locator('meta[name=viewport]');
  await expect(viewport).toHaveAttribute('content', /interactive-widget=resizes-content/);
  const link = page.getByRole('link', { name: 'Open Gmail (opens in a new tab)' });
  await expect(link, 'has the border of a plain button').not.toHaveCSS('border-color', 'rgba(0, 0, 0, 0)');
  await expect(link).toHaveAttribute('target', '_blank');
  await expect(link).toHaveAttribute('rel', /noopener/);
  await expect(link).toHaveAttribute(
    'href',
    `https://mail.google.com/mail/?authuser=${encodeURIComponent(email)}#search/from%3Aguide%40example.com+in%3Aanywhere+newer_than%3A1d`,
  );
  for (const part of [page.getByText('We sent a 6-digit code to'), visitor.box(1), visitor.box(6), link]) {
    const { y, height } = await boxOf(part);
    expect(y).toBeGreaterThanOrEqual(64);
    expect(y + height).toBeLessThanOrEqual(430);
  }

  const release = await hold(page, '**/api/verify');
  const reference = page.getByText('Your code is in our newest email');
  const placeOfTheLink = await link.boundingBox();
  await visitor.enterCode('123456');
  const status = page.getByRole('status').filter({ hasText: 'Verifying code...' });
  await expect(status).toBeInViewport({ ratio: 1 });
  await expect(reference).toBeHidden();
  expect(Number.parseFloat(await status.evaluate((element) => getComputedStyle(element).fontSize))).toBe(16);
  expect(await status.evaluate((element) => getComputedStyle(element).color)).toBe(
    await page.getByRole('heading', { level: 1 }).evaluate((element) => getComputedStyle(element).color),
  );
  expect(await link.boundingBox()).toEqual(placeOfTheLink);
  release();
  await expect(visitor.toast).toContainText('Verification Failed');
});

test('the code screen reports a refused mail once and offers a correction', async ({ page, visitor }) => {
  await page.clock.install();
  const asks = requestsTo(page, '/api/challenge');
  const said = await listen(page);
  await visitor.startAtFilledForm({ email: `nobody-${process.pid}@yahoo.de` });
  await visitor.sendForm();
  await expect(page.getByRole('link', { name: 'Open Yahoo' })).toBeVisible();
  const sentence = 'The mail server did not accept our email to yahoo.de. Is the address right?';
  await expect(page.getByText(sentence)).toHaveCount(0);
  await page.clock.fastForward(3_000);
  await expect(page.getByRole('status').filter({ hasText: sentence })).toBeVisible();
  await expect(page.getByText('Your code is in our newest email')).toHaveCount(0);
  const asked = asks.length;
  await expect(page.getByRole('link', { name: 'Open Yahoo' })).toHaveCount(0);
  await page.clock.fastForward(200_000);
  await expect(page.getByRole('button', { name: 'Resend Code' })).toBeVisible();
  await expect(page.getByText('Nothing yet?')).toHaveCount(0);
  expect(asks).toHaveLength(asked);
  expect((await said()).filter((text) => text.includes('did not accept'))).toEqual([sentence]);
  await page.getByRole('button', { name: 'Correct the address' }).click();
  await expect(page.getByLabel('Work Email *')).toHaveValue(/^nobody/);
});

test('the code screen reports a delayed mail and later that it was sent', async ({ page, visitor, site }) => {
  await page.clock.install();
  const email = `later-${process.pid}@example.com`;
  delayed.add(email);
  await visitor.startAtCode({ email });
  await expect
    .poll(async () => {
      await page.clock.fastForward(3_000);
      return page.getByText('Our email to example.com is held up at the mail server.').count();
    })
    .toBe(1);
  await expect(page.getByText('Nothing yet?')).toHaveCount(0);
  delayed.delete(email);
  await site.inbox.waitForMail(email, 1, 30_000);
  await expect
    .poll(async () => {
      await page.clock.fastForward(30_000);
      return page
        .getByRole('status')
        .filter({ hasText: 'Our email to example.com is on its way now.' })
        .count();
    })
    .toBe(1);
  await expect(page.getByText('held up')).toHaveCount(0);
});
