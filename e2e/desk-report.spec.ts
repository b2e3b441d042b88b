// The report in the desk: the figures and words of `desk report`, for a period, a source and a campaign.
import { readFileSync } from 'node:fs';

import { expectNoViolations } from './axe.ts';
import { expect, test } from './desk-fixtures.ts';

test('the report is drawn, limited to a source, and downloaded as it stands', async ({ page, open }) => {
  test.slow();
  await open('/report');
  // The first report of a process brings the program that draws it.
  await expect(page.getByRole('heading', { name: 'By source' })).toBeVisible({ timeout: 20_000 });
  await expect(page.getByRole('main').getByRole('term').first()).toHaveText('New leads');
  await expect(page.getByRole('main').getByRole('definition').first()).toHaveText('3');
  const bySource = page.getByRole('region', { name: 'By source', exact: true });
  await expect(bySource.locator('svg').first()).toBeVisible();
  // Names in the drawing are in the desk's own face, which only comes through where no style was refused.
  await expect(bySource.locator('svg text').first()).toHaveCSS('font-size', '13px');
  await bySource.getByText('Table: By source').click();
  await expect(bySource.getByRole('row', { name: /^newsletter/ })).toContainText('2');

  await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
  await expect(page).toHaveURL('/report?period=7d');
  await page.getByLabel('Source', { exact: true }).selectOption('newsletter');
  await expect(page).toHaveURL('/report?period=7d&source=newsletter');
  await expect(page.getByRole('main').getByRole('definition').first()).toHaveText('2');
  // A report on one source has no section that compares sources.
  await expect(bySource).toHaveCount(0);
  await page.reload();
  await expect(page.getByLabel('Source', { exact: true })).toHaveValue('newsletter');
  await expect(page.getByRole('main').getByRole('definition').first()).toHaveText('2');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('report-7d.html');
  expect(readFileSync(await download.path(), 'utf8')).toContain('from newsletter');
});

test('a report that cannot be made says what to choose, and keeps the choice', async ({ page, open }) => {
  await open('/report?source=newslettr');
  await expect(page.getByRole('alert')).toContainText('newsletter');
  await page.getByLabel('Source', { exact: true }).selectOption('newsletter');
  await expect(page.getByRole('alert')).toBeHidden();
  await expect(page.getByRole('heading', { name: 'Funnel' })).toBeVisible();
  await open('/report?period=always');
  await expect(page.getByRole('alert')).toBeVisible();
  await page.getByLabel('Period').selectOption({ label: 'Last 30 days' });
  await expect(page.getByRole('heading', { name: 'Funnel' })).toBeVisible();
});

test('while a report is counted, the page says so and keeps what it showed', async ({ page, open }) => {
  await open('/report');
  await expect(page.getByRole('heading', { name: 'Funnel' })).toBeVisible();
  let go: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  await page.route('**/api/report?*', async (route) => {
    await gate;
    await route.continue();
  });
  await page.getByLabel('Period').selectOption({ label: 'Last 90 days' });
  await expect(page.getByRole('status').filter({ hasText: 'Counting' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Funnel' })).toBeVisible();
  await expect(page.getByText('Still counting')).toBeVisible();
  go();
  await expect(page.getByText('Still counting')).toBeHidden();
  await expect(page).toHaveURL('/report?period=90d');
});

test('a printed report has every column, every folded table and no link to skip to', async ({
  page,
  open,
}) => {
  await open('/report');
  await expect(page.getByRole('heading', { name: 'Funnel' })).toBeVisible();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  const cutTables = (report: typeof page) =>
    report
      .locator('table')
      .evaluateAll(
        (tables) =>
          tables.filter(
            (table) =>
              table.getBoundingClientRect().right >
              (table.closest('section')?.getBoundingClientRect().right ?? 0) + 1,
          ).length,
      );
  const folded = page.getByRole('main').locator('details:not([open])');
  await expect(folded).not.toHaveCount(0);
  await page.pdf();
  await expect(folded).toHaveCount(0);
  // A4 without its margins.
  const paper = { width: 673, height: 1_000 };
  await page.setViewportSize(paper);
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeHidden();
  const file = await page.context().newPage();
  await file.setViewportSize(paper);
  await file.emulateMedia({ media: 'print' });
  await file.setContent(readFileSync(await download.path(), 'utf8'));
  await expect(file.getByRole('table').first()).toBeVisible();
  expect(await cutTables(file)).toBe(0);
});

test('charts can be read in a dark contrast theme', async ({ page, open }) => {
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await open('/report');
  const text = page.getByRole('region', { name: 'By source', exact: true }).locator('svg text').first();
  await expect(text).toBeVisible();
  const ink = await page.evaluate(() => getComputedStyle(document.body).color);
  await expect(text).toHaveCSS('fill', ink);
});

test('every state of the report passes axe in both themes', async ({ page, open }) => {
  test.slow();
  await open('/report');
  await expect(page.getByRole('heading', { name: 'Funnel' })).toBeVisible();
  for (const table of await page
    .getByRole('main')
    .getByText(/^Table: /)
    .all())
    await table.click();
  await expectNoViolations(page, 'report');
  await page.setViewportSize({ width: 375, height: 812 });
  await expectNoViolations(page, 'report on a telephone');
  await open('/report?source=nobody');
  await expect(page.getByRole('alert')).toBeVisible();
  await expectNoViolations(page, 'a report that failed');
});
