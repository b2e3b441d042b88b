import { createVisitor, expect, test, wrongFor } from './fixtures.ts';

test('the page asks a visitor whose browser refuses cookies to allow them', async ({ page, visitor }) => {
  await page.route('**/api/**', async (route) => {
    const response = await route.fetch();
    await page.context().clearCookies();
    const { 'set-cookie': _, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
  await page.goto('/');
  await visitor.askForCode();
  await visitor.enterCode(await visitor.mailedCode());
  await expect(
    page.getByRole('alert').filter({ hasText: 'Please allow cookies for this page' }),
  ).toBeVisible();
  await expect(page.getByText('Your access has ended')).toHaveCount(0);
  await expect(visitor.toast.filter({ hasText: 'Verified!' })).toHaveCount(0);
  await page.unroute('**/api/**');
  await page.getByRole('button', { name: 'Get a new code' }).click();
  await visitor.sendValidForm();
  await visitor.openArticle(await visitor.mailedCode(2));
});

test('a tab opens the article after its code was used in another tab', async ({ visitor, context, site }) => {
  await visitor.startAtCode();
  const code = await visitor.mailedCode();
  const second = createVisitor(await context.newPage(), site);
  await second.startAtCode({ email: visitor.email });
  await second.enterCode(wrongFor(code));
  await expect(second.toast).toContainText('400: That code is wrong');
  await second.closeToast();
  await visitor.openArticle(code);

  const cookies = await context.cookies();
  await context.clearCookies();
  await second.enterCode(code);
  await expect(second.toast).toContainText('400: That code is wrong');
  expect(await second.boxValues()).toBe('______');

  await context.addCookies(cookies);
  await second.openArticle(code);
  await second.page.reload();
  await expect(second.article).toBeVisible();
});
