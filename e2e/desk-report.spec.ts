import { expectFitsTelephone, expectNoViolations } from './axe.ts';
import { expect, test } from './desk-fixtures.ts';
import { download, resize } from './fixtures.ts';

test('the report can be limited to a source and downloaded in that form', async ({ page, open }) => {
  await open('/report?source=newslettr');
  const source = page.getByLabel('Source', { exact: true });
  await expect(page.getByRole('alert')).toContainText('newsletter');
  await expectNoViolations(page, 'a report that failed');
  await source.selectOption('newsletter');
  await expect(page.getByRole('alert')).toBeHidden();
  await expect(page.getByRole('heading', { name: 'Funnel' })).toBeVisible();

  await page.goto('/report');
  await expect(page.getByRole('heading', { name: 'By source' })).toBeVisible();
  await expect(page.getByRole('main').getByRole('term').first()).toHaveText('New leads');
  await expect(page.getByRole('main').getByRole('definition').first()).toHaveText('3');
  const bySource = page.getByRole('region', { name: 'By source', exact: true });
  await expect(bySource.getByRole('row', { name: /^newsletter/ })).toContainText('2');
  const bar = bySource.locator('svg rect').first();
  await expect(bar).toBeVisible();
  await expect(bar).not.toHaveCSS('fill', 'rgb(0, 0, 0)');

  for (const table of await page
    .getByRole('main')
    .getByText(/^Table: /)
    .all())
    await table.click();
  await expectNoViolations(page, 'report');
  await expectFitsTelephone(page, 'report');

  await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
  await expect(page).toHaveURL('/report?period=7d');
  await source.selectOption('newsletter');
  await expect(page).toHaveURL('/report?period=7d&source=newsletter');
  await expect(page.getByRole('main').getByRole('definition').first()).toHaveText('2');
  await expect(bySource).toHaveCount(0);
  await page.reload();
  await expect(source).toHaveValue('newsletter');
  await expect(page.getByRole('main').getByRole('definition').first()).toHaveText('2');

  const file = await download(page.getByRole('button', { name: 'Download' }));
  expect(file.name).toBe('report-7d.html');
  expect(file.text).toContain('from newsletter');
});

test('the report is readable in a dark contrast theme and on paper', async ({ page, open }) => {
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await open('/report');
  const byDay = page.getByRole('region', { name: 'By day', exact: true });
  const ink = await page.evaluate(() => getComputedStyle(document.body).color);
  await expect(byDay.locator('svg text.name').first()).toHaveCSS('fill', ink);
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await expect(byDay.locator('svg rect').first()).not.toHaveCSS('fill', ground);
  await page.emulateMedia({ forcedColors: null, colorScheme: null });
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
  await page.getByLabel('Period').selectOption({ label: 'Last 7 days' });
  await expect(page).toHaveURL('/report?period=7d');
  const { text } = await download(page.getByRole('button', { name: 'Download' }));
  // A4 without its margins, in CSS pixels.
  const paper = { width: 673, height: 1_000 };
  await resize(page, paper);
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeHidden();
  for (const table of await page.locator('table').all()) await expect(table).toBeVisible();
  expect(await cutTables(page)).toBe(0);
  const besideFunnel = page.getByRole('region', { name: 'Why codes were not entered' });
  expect((await besideFunnel.boundingBox())?.width).toBeLessThan(paper.width / 2);
  const file = await page.context().newPage();
  await file.setViewportSize(paper);
  await file.emulateMedia({ media: 'print' });
  await file.setContent(text);
  await expect(file.getByRole('table').first()).toBeVisible();
  const columns = file.getByRole('group', { name: 'Table: By source' }).getByRole('columnheader');
  await expect(columns).toHaveText(['Source', 'Asked', 'Entered', 'Share', 'New leads']);
  const pdf = await file.pdf({ preferCSSPageSize: true });
  expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeLessThanOrEqual(2);
  expect(await file.evaluate(() => [...document.fonts].map(({ family }) => family))).toEqual([
    'Newsreader',
    'Hanken Grotesk',
  ]);
  expect(await cutTables(file)).toBe(0);
});
