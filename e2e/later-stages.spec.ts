import { expect, hold, requestsTo, test } from './fixtures.ts';

const SECOND_FILE = '**/assets/second-*';

test('the second file is asked for once the page wakes up, and not before', async ({ page }) => {
  const requests = requestsTo(page, '/assets/');
  const asked = () => requests.map((request) => request.url().replace(/.*\/(\w+)-.*/, '$1'));
  await page.goto('/');
  await page.waitForLoadState('networkidle');
  expect(asked()).toEqual(['app']);
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).focus();
  await expect.poll(asked).toEqual(['app', 'second']);
});

test('where the second file cannot be had, an accepted form says so and leads to the code screen', async ({
  page,
  visitor,
  expectedComplaints,
}) => {
  expectedComplaints.push(/assets\/second-/);
  await page.route(SECOND_FILE, (route) => route.abort());
  await visitor.startAtForm();
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(visitor.toast).toContainText('Please check your email');
  await expect(page.getByRole('main')).toBeFocused();
  const again = page.getByRole('button', { name: 'Try again' });
  await expect(again).toBeVisible({ timeout: 15_000 });
  await expect(
    page.getByRole('status').filter({ hasText: 'The next step could not be loaded' }),
  ).toBeVisible();
  await page.unroute(SECOND_FILE);
  await again.click();
  await expect(visitor.codeScreen).toBeVisible();
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
  await visitor.openArticle();
});

test('a first file that came at its second address has one application with the second one', async ({
  page,
  visitor,
  expectedComplaints,
}) => {
  expectedComplaints.push(/assets\/app-/);
  const asked = requestsTo(page, '/assets/second-');
  let failures = 2;
  await page.route('**/assets/app-*', (route) => (failures-- > 0 ? route.abort() : route.continue()));
  await visitor.startAtArticle();
  expect(asked).toHaveLength(1);
});

test('a reloaded code screen asks for both files at once', async ({ page, visitor }) => {
  await visitor.startAtCode();
  // The first file does not come yet.
  const release = await hold(page, '**/assets/app-*');
  const asked = page.waitForRequest(SECOND_FILE);
  await page.reload({ waitUntil: 'commit' });
  await asked;
  release();
  await expect(visitor.codeScreen).toBeVisible();
});

test('a page older than its files comes back with the newest one, at the code screen', async ({
  page,
  visitor,
  expectedComplaints,
}) => {
  expectedComplaints.push(/assets\/second-/);
  // As after a release whose files have replaced these.
  await page.route(SECOND_FILE, (route) => route.fulfill({ status: 404, body: '' }));
  await visitor.startAtForm();
  await visitor.fillForm();
  await visitor.sendForm();
  const again = page.getByRole('button', { name: 'Try again' });
  await expect(again).toBeVisible({ timeout: 15_000 });
  page.once('framenavigated', () => void page.unroute(SECOND_FILE));
  await again.click();
  await visitor.openArticle();
});
