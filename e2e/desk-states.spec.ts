import type { Page } from '@playwright/test';

import { expectNoViolations } from './axe.ts';
import { expect, PEOPLE, test } from './desk-fixtures.ts';
import { resize } from './fixtures.ts';

const heading = (page: Page, name: string) =>
  expect(page.getByRole('heading', { name, level: 1 })).toBeVisible();

test('every state of the desk sign-in passes axe in both themes', async ({ page }) => {
  await page.goto('/');
  await heading(page, 'Sign in to the desk');
  await expectNoViolations(page, 'sign in');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await expectNoViolations(page, 'sign in with an error');
  await page.getByLabel('E-mail address').fill('stranger@example.com');
  await page.keyboard.press('Enter');
  await heading(page, 'Enter the code');
  const code = page.getByLabel('Six-digit code');
  await code.fill('123456');
  await expect(code).toHaveAccessibleDescription(/^This code is wrong/);
  await expectNoViolations(page, 'a refused code');
  await page.goto('/enter');
  await heading(page, 'This link does not open the desk');
  await expectNoViolations(page, 'a link that does not work');
});

test('every state of the overview, lists and account of the desk passes axe in both themes', async ({
  page,
  open,
}) => {
  test.slow();
  await open('/');
  await expect(page.getByRole('heading', { name: 'Newest leads' })).toBeVisible();
  await expectNoViolations(page, 'today');
  await open('/leads');
  await expect(page.getByRole('rowheader').first()).toBeVisible();
  await page.getByRole('button', { name: 'More filters' }).click();
  await expectNoViolations(page, 'leads');
  await page.getByRole('button', { name: 'Columns' }).click();
  await expect(page.getByRole('checkbox', { name: 'E-mail' })).toBeVisible();
  await expectNoViolations(page, 'columns');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Export' }).click();
  await expect(page.getByRole('radio', { name: 'HubSpot' })).toBeVisible();
  await expectNoViolations(page, 'export');
  await open('/leads?search=nobody');
  await expect(page.getByText('Nobody matches this filter')).toBeVisible();
  await expectNoViolations(page, 'nobody found');
  await open('/companies');
  await expect(page.getByText('3 domains.')).toBeVisible();
  await expectNoViolations(page, 'companies');
  await open('/account');
  await page
    .getByRole('button', { name: /^End the session/ })
    .first()
    .click();
  await expect(page.getByRole('alertdialog')).toBeVisible();
  await expectNoViolations(page, 'ending a session');
  await page.route('**/api/people?*', (route) => route.abort());
  await open('/leads?source=newsletter');
  await expect(page.getByRole('alert')).toBeVisible();
  await expectNoViolations(page, 'a failed list');
  await resize(page, { width: 375, height: 812 });
  await page.unroute('**/api/people?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('list', { name: 'Leads' })).toBeVisible();
  await expectNoViolations(page, 'leads on a telephone');
  await page.getByRole('button', { name: 'Open the menu' }).click();
  await expect(page.getByRole('dialog', { name: 'Menu' })).toBeVisible();
  await expectNoViolations(page, 'the menu of a telephone');
});

test('the phone menu of the desk can be used with only a keyboard', async ({ page, open }) => {
  await resize(page, { width: 375, height: 812 });
  await open('/');
  await heading(page, 'Today');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.getByRole('button', { name: 'Open the menu' }).focus();
  await page.keyboard.press('Enter');
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await menu.getByRole('link', { name: 'Companies' }).focus();
  await page.keyboard.press('Enter');
  await expect(menu).toBeHidden();
  await heading(page, 'Companies');
  await expect(page).toHaveURL('/companies');
});

test('the overview of the desk links to the events of the day', async ({ page, open, desk }) => {
  await open('/');
  const day = page.getByRole('region', { name: 'Today', exact: true });
  // Midnight may have passed since the site started.
  const isOfToday = desk.madeOn === new Date().toISOString().slice(0, 10);
  await expect(day).toContainText(isOfToday ? '3 leads' : '0 leads');
  await expect(page.getByRole('img', { name: /^3 leads in the last 30 days/ })).toBeVisible();
  await page.getByRole('link', { name: 'See what needs doing' }).click();
  await expect(page.getByRole('region', { name: 'What needs doing' })).toBeInViewport();
  await page.getByRole('button', { name: 'Switch between light and dark' }).click();
  await expect(page.locator('html')).toHaveClass('dark');
  await page.reload();
  await expect(page.locator('html')).toHaveClass('dark');
  await expect(page.getByRole('link', { name: 'Alan Turing' })).toHaveAttribute('href', /^\/person\?id=/);
  await page.getByRole('link', { name: 'All leads' }).click();
  await heading(page, 'Leads');
  await expect(page.getByText(PEOPLE.all)).toBeVisible();
});
