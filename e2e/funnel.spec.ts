import type { Page } from '@playwright/test';

import type { Report } from '#desk/report/report.ts';
import { COUNTED_BROWSER, createVisitor, expect, reportsOf, runDesk, test } from './fixtures.ts';

test.use({ userAgent: COUNTED_BROWSER });

const STEPS = ['opened', 'quarter', 'half', 'three-quarters', 'whole'];

async function readToEnd(page: Page): Promise<void> {
  const end = page.getByRole('contentinfo');
  await page.getByRole('article').hover();
  await expect(async () => {
    await page.mouse.wheel(0, 700);
    await expect(end).toBeInViewport({ timeout: 1 });
  }).toPass({ intervals: [50] });
}

test('each step is counted once unless the visitor opted out', async ({ page, browser, startOwnSite }) => {
  test.slow();
  const site = await startOwnSite();
  const sent = reportsOf(page);
  const steps = () => sent.map((request) => (request.postDataJSON() as { step: string }).step);
  const visitor = createVisitor(page, site);
  await page.goto(`${site.url}/?utm_source=newsletter`);
  await visitor.askForCode();
  expect(steps()).toEqual(['opened']);
  await visitor.openArticle();
  expect(steps()).toEqual(['opened']);
  await readToEnd(page);
  await expect.poll(steps).toEqual(STEPS);
  await page.mouse.wheel(0, -20_000);
  await readToEnd(page);
  await page.getByRole('button', { name: 'Back' }).click();
  await visitor.openForm();
  expect(steps()).toEqual(STEPS);
  for (const request of sent) expect(await request.allHeaders()).not.toHaveProperty('cookie');

  const context = await browser.newContext({ extraHTTPHeaders: { 'sec-gpc': '1' } });
  await context.addInitScript(() =>
    Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }),
  );
  const quiet = createVisitor(await context.newPage(), site);
  const told = reportsOf(quiet.page);
  await quiet.page.goto(site.url);
  await quiet.readArticle();
  await readToEnd(quiet.page);
  expect(told).toEqual([]);
  await context.close();

  await page.close();
  await site.stop('SIGINT');
  const report = JSON.parse(runDesk(site, 'report', '--json', '--period', '2d')) as Report;
  expect(report.funnel).toEqual([
    { step: 'seen', times: 1 },
    { step: 'opened', times: 1 },
    { step: 'asked', people: 2 },
    { step: 'mailed', people: 2 },
    { step: 'entered', people: 2 },
    { step: 'quarter', times: 1 },
    { step: 'half', times: 1 },
    { step: 'three-quarters', times: 1 },
    { step: 'whole', times: 1 },
  ]);
  expect(report.bySource).toContainEqual({ name: 'newsletter', seen: 1, asked: 1, entered: 1, leads: 1 });
  expect(report.leads).toBe(2);
  expect(site.output()).not.toContain('newsletter');
});
