import type { Browser, Page, Request } from '@playwright/test';

import type { Report } from '#desk/report/report.ts';
import type { Site } from '#testing/start-site.ts';
import { variantsCampaign } from '#testing/other-campaigns.ts';
import { filledForm } from '#testing/server-under-test.ts';
import {
  bodiesOf,
  COUNTED_BROWSER,
  createVisitor,
  expect,
  reportsOf,
  requestsTo,
  runDesk,
  test,
} from './fixtures.ts';

const HEADLINES = { a: 'Master AI-Powered Cold Outreach', b: 'Write Emails That Get Answers' } as const;
type Name = keyof typeof HEADLINES;

test.use({ userAgent: COUNTED_BROWSER });

async function shown(page: Page): Promise<Name> {
  const headline = await page.getByRole('heading', { level: 1 }).textContent();
  const found = (Object.keys(HEADLINES) as Name[]).find((name) => HEADLINES[name] === headline);
  if (found === undefined) throw new Error(`No variant has the headline ${headline}.`);
  return found;
}

type Visit = { readonly page: Page; readonly reports: readonly Request[] };

async function oneOfEach(
  browser: Browser,
  site: Site,
): Promise<{ readonly visits: Record<Name, Visit>; readonly given: Name[] }> {
  const visits: Partial<Record<Name, Visit>> = {};
  const given: Name[] = [];
  // The same variant twenty times in a row happens about twice in a million runs.
  while (visits.a === undefined || visits.b === undefined) {
    expect(given.length).toBeLessThan(20);
    const context = await browser.newContext({ userAgent: COUNTED_BROWSER });
    const page = await context.newPage();
    const reports = reportsOf(page);
    await page.goto(site.url);
    const name = await shown(page);
    given.push(name);
    await expect.poll(() => bodiesOf(reports)).toEqual([{ step: 'first-seen', variant: name }]);
    if (visits[name] === undefined) visits[name] = { page, reports };
    else await context.close();
  }
  return { visits: { a: visits.a, b: visits.b }, given };
}

async function preview(page: Page, browser: Browser, site: Site): Promise<void> {
  const reports = reportsOf(page);
  const forms = requestsTo(page, '/api/leads');
  for (const name of ['a', 'b'] as const) {
    await page.goto(`${site.url}/?variant=${name}`);
    expect(await shown(page)).toBe(name);
  }
  const visitor = createVisitor(page, site);
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await visitor.sendValidForm();
  await visitor.openArticle();
  expect(reports).toEqual([]);
  expect(bodiesOf(forms)).toEqual([expect.not.objectContaining({ variant: expect.anything() })]);
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
  await using withoutScripts = await browser.newContext({
    javaScriptEnabled: false,
    userAgent: 'Googlebot/2.1',
  });
  const plain = await withoutScripts.newPage();
  for (const name of ['a', 'b'] as const) {
    await plain.goto(`${site.url}/?variant=${name}`);
    expect(await shown(plain)).toBe(name);
  }
  await plain.goto(site.url);
  expect(['a', 'b']).toContain(await shown(plain));
}

test('each browser keeps its variant, which appears in form, lead and report, while previews count nothing', async ({
  page: previewed,
  browser,
  startOwnSite,
}) => {
  test.slow();
  const site = await startOwnSite({ campaign: variantsCampaign() });
  await preview(previewed, browser, site);
  const { visits, given } = await oneOfEach(browser, site);
  for (const name of ['a', 'b'] as const) {
    const { page, reports } = visits[name];
    // Opens one URL twice, the second time from the browser's cache.
    for (const address of ['/', '/', '/?utm_source=newsletter&utm_term=two words', '/#closing']) {
      await page.goto('about:blank');
      await page.goto(site.url + address);
      await expect(page.getByRole('heading', { level: 1, name: HEADLINES[name] })).toBeVisible();
      expect(page.url()).toBe(new URL(address, site.url).href);
    }
    expect(reports).toHaveLength(1);
    expect(await page.evaluate(() => localStorage.getItem('page-variant'))).toBe(`${name} a,b`);
    expect(await page.context().cookies()).toEqual([]);
  }

  const { page, reports } = visits.b;
  const visitor = createVisitor(page, site);
  const forms = requestsTo(page, '/api/leads');
  await page.goto(`${site.url}/?utm_source=newsletter`);
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Where Shall We Send It?' })).toBeVisible();
  await expect(page.getByRole('checkbox', { name: /^Yes, send me the guide/ })).toBeVisible();
  await visitor.fillForm();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Where Shall We Send It?' })).toBeVisible();
  await page.getByRole('checkbox').check();
  await visitor.sendFilledForm();
  await page.reload();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await visitor.openArticle();
  expect(bodiesOf(forms)).toEqual([filledForm({ email: visitor.email, variant: 'b' })]);
  expect(forms[0]?.headers()['x-consent-version']).toMatch(/^[0-9a-f]{12}$/);
  expect(bodiesOf(reports).slice(0, 2)).toEqual([
    { step: 'first-seen', variant: 'b' },
    { step: 'opened', variant: 'b' },
  ]);

  await site.stop('SIGINT');
  const report = JSON.parse(runDesk(site, 'report', '--json', '--period', '2d')) as Report;
  const { byVariant: comparison, bySource, leads: leadsInReport } = report;
  expect(comparison?.variants.map(({ name, views, leads }) => ({ name, views, leads }))).toEqual([
    { name: 'a', views: given.filter((name) => name === 'a').length, leads: 0 },
    { name: 'b', views: given.filter((name) => name === 'b').length, leads: 1 },
  ]);
  expect(comparison?.verdicts).toMatchObject([{ variant: 'b', type: 'open', leading: 'b' }]);
  expect(bySource.find(({ name }) => name === 'newsletter')).toMatchObject({ leads: 1 });
  expect(leadsInReport).toBe(2);
  const text = runDesk(site, 'report', '--text', '--period', '2d');
  expect(text).toContain('It is not clear yet which of a and b is better');
  expect(text).toContain('The consent wording differs between the variants');
  for (const visit of Object.values(visits)) await visit.page.context().close();
});
