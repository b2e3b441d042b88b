import type { Page } from '@playwright/test';

import { changingTest as test, expect, FOUND, KEPT_LEAD } from './desk-fixtures.ts';
import { inEveryFont, overflow, resize } from './fixtures.ts';

const PHONE = { width: 375, height: 812 };

const expectNoOverflow = (page: Page, where: string) =>
  inEveryFont(page, async (font) => expect(await overflow(page), `${where}, ${font}`).toBe(0));

const openTables = async (page: Page) => {
  await expect(page.getByRole('heading', { name: 'Funnel' })).toBeVisible();
  for (const table of await page
    .getByRole('main')
    .getByText(/^Table: /)
    .all())
    await table.click();
};

const openDetails = (page: Page) =>
  page
    .getByRole('region', { name: 'Timeline' })
    .getByRole('listitem')
    .filter({ hasText: 'Asked for a code' })
    .getByText('Details')
    .click();

const PAGES: readonly (readonly [path: string, open?: (page: Page) => Promise<unknown>])[] = [
  ['/'],
  ['/leads'],
  ['/leads?domain=compilers.example'],
  ['/companies'],
  ['/account'],
  ['/lost'],
  ['/mail', (page) => expect(page.getByRole('heading', { name: 'Webhooks' })).toBeVisible()],
  ['/doctor', (page) => expect(page.getByText('1 problem, 1 warning.')).toBeVisible()],
  ['/report', openTables],
];

test('no desk page scrolls sideways at 375 px', async ({ page, open }) => {
  test.slow();
  await resize(page, PHONE);
  await page.route('**/api/doctor*', (route) => route.fulfill({ json: FOUND }));
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Sign in to the desk' })).toBeVisible();
  await expectNoOverflow(page, 'sign in');
  for (const [path, act] of PAGES) {
    await open(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    const busy = page.getByRole('status').filter({ hasText: /Loading|Counting|reading/ });
    await expect(busy).toHaveCount(0, { timeout: 20_000 });
    await act?.(page);
    await expectNoOverflow(page, path);
  }
  await open(`/leads?search=${KEPT_LEAD.email}`);
  await page.getByRole('link', { name: KEPT_LEAD.name }).click();
  await openDetails(page);
  await expectNoOverflow(page, 'a person');
});
