import type { Page } from '@playwright/test';

import { becomeLead, changingTest as test, expect, FOUND, KEPT_LEAD } from './desk-fixtures.ts';
import { inEveryFont, overflow, resize } from './fixtures.ts';

// A second worker would start another site.
test.describe.configure({ mode: 'default' });

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
  ['/lost', (page) => page.getByRole('button', { name: 'Other days' }).click()],
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

test('the desk list shows its filters in one row and other columns next to a long name', async ({
  page,
  open,
}) => {
  await page.route('**/api/people?*', async (route) => {
    const response = await route.fetch();
    const { people, ...rest } = (await response.json()) as { readonly people: readonly object[] };
    await route.fulfill({
      response,
      json: {
        ...rest,
        people: people.map((person) => ({ ...person, name: 'Grace'.repeat(35), flags: ['free'] })),
      },
    });
  });
  await open('/leads?source=newsletter');
  await expect(page.getByRole('rowheader').first()).toContainText('GraceGrace');
  await inEveryFont(page, async (font) => {
    await expect(page.getByRole('columnheader', { name: 'Flags' })).toBeInViewport({ ratio: 1 });
    const places = await page
      .getByRole('search')
      .locator('input, select')
      .evaluateAll((fields) => fields.map((field) => field.getBoundingClientRect()));
    const rows = new Set(places.map(({ y, height }) => `${Math.round(y)} ${Math.round(height)}`));
    expect([...rows], `top and height of the fields, in pixels, ${font}`).toHaveLength(1);
  });
});

test("a long e-mail address fits the desk's erase dialogue at 375 and 320 px", async ({
  page,
  desk,
  open,
}) => {
  const email = 'grace@marketing.industrieanlagenbau.example';
  await becomeLead(desk.site, { ...KEPT_LEAD, email });
  await resize(page, PHONE);
  await open(`/leads?search=${email}`);
  await page.getByRole('link', { name: KEPT_LEAD.name }).click();
  await page.getByRole('button', { name: 'Erase' }).click();
  const dialogue = page.getByRole('alertdialog');
  for (const width of [375, 320]) {
    await resize(page, { width, height: 812 });
    await inEveryFont(page, async (font) => {
      const hidden = await dialogue.evaluate((box) => box.scrollWidth - box.clientWidth);
      expect(hidden, `${width} px, ${font}`).toBe(0);
    });
  }
});
