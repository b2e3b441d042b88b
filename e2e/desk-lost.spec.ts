import { expectFitsTelephone, expectNoViolations } from './axe.ts';
import { changingTest as test, expect, LOST } from './desk-fixtures.ts';
import { fulfillNext } from './fixtures.ts';

const rows = 'rowheader';

test('lost leads are grouped by reason, and the URL contains the choice', async ({ page, open }) => {
  test.slow();
  await expect(async () => {
    await open('/lost');
    await expect(page.getByText('5.1.1 Recipient address rejected: User unknown')).toBeVisible();
    await expect(page.getByText('4.7.1 Greylisted, try again later')).toHaveCount(2);
  }).toPass();
  await expect(page.getByRole(rows)).toHaveCount(LOST.length);
  await expect(page.getByText('3 people.')).toBeVisible();
  await expectNoViolations(page, 'lost leads');
  const why = page.getByRole('group', { name: 'Why' });
  await expect(why.getByRole('button', { name: 'All' })).toHaveAttribute('aria-pressed', 'true');
  await why.getByRole('button', { name: /^E-mail is still queued 2/ }).click();
  await expect(page).toHaveURL('/lost?why=E-mail+is+still+queued');
  await expect(page.getByText('2 of 3 people.')).toBeVisible();
  await page
    .getByRole('group', { name: 'Source' })
    .getByRole('button', { name: /^partner 1/ })
    .click();
  await expect(page.getByRole(rows)).toHaveText(/Jonas Lind/);
  await page.reload();
  await expect(page.getByRole(rows)).toHaveText(/Jonas Lind/);
  await page.getByRole('link', { name: 'Jonas Lind' }).click();
  await expect(page.getByRole('heading', { name: 'Jonas Lind', level: 1 })).toBeVisible();
  await expect(page.getByText('Not verified')).toBeVisible();
  await page.goBack();
  await expect(page.getByRole(rows)).toHaveText(/Jonas Lind/);

  await page.goto('/lost?why=nothing');
  await expectNoViolations(page, 'no one fits');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.getByRole('button', { name: 'Last week' }).click();
  await expect(page).toHaveURL('/lost?days=last-week');
  await expect(page.getByText('Nobody was lost')).toBeVisible();
  await expectNoViolations(page, 'no one was lost');
  await fulfillNext(page, '**/api/lost?*', null);
  await page.getByRole('button', { name: 'Last 30 days' }).click();
  await expect(page).toHaveURL('/lost?days=30');
  await expect(page.getByRole('alert')).toBeVisible();
  await expectNoViolations(page, 'lost leads that could not be read');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole(rows)).toHaveCount(LOST.length);
  await expectFitsTelephone(page, 'lost leads', 'People who entered no code');
});
