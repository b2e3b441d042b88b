// One browser, several tabs, one jar of cookies; and browsers that keep none.
import type { Page } from '@playwright/test';

import { createVisitor, expect, test } from './fixtures.ts';

test.beforeEach(async ({ page }) => {
  await page.goto('/');
});

/** A browser that takes no cookie, neither now nor later. */
async function refuseCookies(page: Page): Promise<void> {
  await page.route('**/api/**', async (route) => {
    const response = await route.fetch();
    await page.context().clearCookies();
    const { 'set-cookie': _, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
}

test('a browser that refuses cookies gets a sentence that says so, and not that access has ended', async ({
  page,
  visitor,
}) => {
  await refuseCookies(page);
  await visitor.askForCode();
  await visitor.enterCode(await visitor.mailedCode());
  await expect(
    page.getByRole('alert').filter({ hasText: 'Please allow cookies for this page' }),
  ).toBeVisible();
  await expect(page.getByText('Your access has ended')).toHaveCount(0);
  await expect(visitor.toast.filter({ hasText: 'Verified!' })).toHaveCount(0);
  await page.unroute('**/api/**');
  await page.getByRole('button', { name: 'Get a new code' }).click();
  await visitor.fillForm();
  await visitor.sendForm();
  await visitor.enterCode(await visitor.mailedCode(2));
  await expect(page.getByRole('article')).toBeVisible();
});

test('a second tab whose code the first has used opens the article with the same code', async ({
  page,
  visitor,
  context,
  site,
}) => {
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const second = createVisitor(await context.newPage(), site);
  await second.page.goto(site.url);
  await second.openForm();
  await second.fillForm({ email: visitor.email });
  await second.sendForm();
  await expect(second.page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  // Here no code opens anything yet: a wrong one is only wrong.
  await second.enterCode(code === '000000' ? '000001' : '000000');
  await expect(second.toast).toContainText('400: That code is wrong');
  await visitor.enterCode(code);
  await expect(page.getByRole('article')).toBeVisible();
  await second.enterCode(code);
  await expect(second.page.getByRole('article')).toBeVisible();
  await second.page.reload();
  await expect(second.page.getByRole('article')).toBeVisible();
});

test('a tab waits for its own code while another tab opens the article with the code of another address', async ({
  page,
  visitor,
  context,
  site,
}) => {
  await visitor.askForCode();
  const second = createVisitor(await context.newPage(), site);
  await second.page.goto(site.url);
  await second.askForCode();
  await visitor.enterCode(await visitor.mailedCode());
  await expect(page.getByRole('article')).toBeVisible();
  const code = await second.mailedCode();
  await second.enterCode(code === '000000' ? '000001' : '000000');
  await expect(second.toast).toContainText('400: That code is wrong');
  await second.page.reload();
  await expect(second.page.getByText(second.email)).toBeVisible();
  await second.enterCode(code);
  await expect(second.toast).toContainText('Verified!');
});

test('a wrong code opens nothing while its own code is still waited for, whatever was opened before', async ({
  page,
  visitor,
  site,
}) => {
  await visitor.readArticle();
  await page.getByRole('button', { name: 'Back' }).click();
  const another = createVisitor(page, site);
  await another.askForCode();
  const code = await another.mailedCode();
  await another.enterCode(code === '000000' ? '000001' : '000000');
  await expect(another.toast).toContainText('400: That code is wrong');
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  await another.enterCode(code);
  await expect(another.toast).toContainText('Verified!');
});

test('a used code stays refused where the article does not open', async ({
  page,
  visitor,
  context,
  site,
}) => {
  await visitor.askForCode();
  const code = await visitor.mailedCode();
  const second = createVisitor(await context.newPage(), site);
  await second.page.goto(site.url);
  await second.openForm();
  await second.fillForm({ email: visitor.email });
  await second.sendForm();
  await expect(second.page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  await visitor.enterCode(code);
  await expect(page.getByRole('article')).toBeVisible();
  await context.clearCookies();
  await second.enterCode(code);
  await expect(second.toast).toContainText('400: That code is wrong');
  expect(await second.boxValues()).toBe('______');
});
