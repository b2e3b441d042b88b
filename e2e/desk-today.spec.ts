import { expectFitsTelephone, expectNoViolations } from './axe.ts';
import { expect, PEOPLE, test } from './desk-fixtures.ts';
import { resize } from './fixtures.ts';

test('the overview and the phone menu of the desk lead to its pages', async ({ page, open, desk }) => {
  await open('/');
  const day = page.getByRole('region', { name: 'Today', exact: true });
  // Midnight may have passed since the site started.
  const isOfToday = desk.madeOn === new Date().toISOString().slice(0, 10);
  await expect(day).toContainText(isOfToday ? '3 leads' : '0 leads');
  await expect(page.getByRole('img', { name: /^3 leads in the last 30 days/ })).toBeVisible();
  await expectNoViolations(page, 'today');
  await page.getByRole('link', { name: 'See what needs doing' }).click();
  await expect(page.getByRole('region', { name: 'What needs doing' })).toBeInViewport();
  await page.getByRole('button', { name: 'Switch between light and dark' }).click();
  await expect(page.locator('html')).toHaveClass('dark');
  await page.reload();
  await expect(page.locator('html')).toHaveClass('dark');
  await expect(page.getByRole('link', { name: 'Alan Turing' })).toHaveAttribute('href', /^\/person\?id=/);

  await expectFitsTelephone(page, 'today');
  await resize(page, { width: 375, height: 812 });
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.getByRole('button', { name: 'Open the menu' }).focus();
  await page.keyboard.press('Enter');
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await expect(menu).toBeVisible();
  await expectNoViolations(page, 'the menu of a telephone');
  await menu.getByRole('link', { name: 'Companies' }).focus();
  await page.keyboard.press('Enter');
  await expect(menu).toBeHidden();
  await expect(page.getByRole('heading', { name: 'Companies', level: 1 })).toBeVisible();
  await expect(page).toHaveURL('/companies');

  await resize(page, { width: 1280, height: 800 });
  await page.goBack();
  await page.getByRole('link', { name: 'All leads' }).click();
  await expect(page.getByRole('heading', { name: 'Leads', level: 1 })).toBeVisible();
  await expect(page.getByText(PEOPLE.all)).toBeVisible();
});
