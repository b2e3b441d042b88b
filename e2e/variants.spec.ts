import { execFileSync } from 'node:child_process';
import path from 'node:path';

import type { Browser, BrowserContext, Page } from '@playwright/test';

import type { Report } from '#desk/report/report.ts';
import { startSite, siteSettings, type Site } from '#testing/start-site.ts';
import { variantsCampaign } from '#testing/other-campaigns.ts';
import { createVisitor, expect, test } from './fixtures.ts';

const HEADLINES = { a: 'Master AI-Powered Cold Outreach', b: 'Write Emails That Get Answers' } as const;
type Name = keyof typeof HEADLINES;

const withVariants = () => ({
  campaign: variantsCampaign(),
  env: { LEADS_PER_IP_PER_HOUR: '0', RESEND_SECONDS: '0' },
});

// Headless Chromium identifies itself as a robot, which the server does not count.
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
test.use({ userAgent });

async function shown(page: Page): Promise<Name> {
  const headline = await page.getByRole('heading', { level: 1 }).textContent();
  const found = (Object.keys(HEADLINES) as Name[]).find((name) => HEADLINES[name] === headline);
  if (found === undefined) throw new Error(`No variant has the headline ${headline}.`);
  return found;
}

function watchReports(page: Page): unknown[] {
  const reports: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/funnel')) reports.push(request.postDataJSON());
  });
  return reports;
}

async function oneOfEach(
  browser: Browser,
  site: Site,
): Promise<{ readonly visits: Record<Name, { page: Page; reports: unknown[] }>; readonly given: Name[] }> {
  const visits: Partial<Record<Name, { page: Page; reports: unknown[] }>> = {};
  const given: Name[] = [];
  // The same variant twenty times in a row happens about twice in a million runs.
  while (visits.a === undefined || visits.b === undefined) {
    expect(given.length).toBeLessThan(20);
    const context: BrowserContext = await browser.newContext({ userAgent });
    const page = await context.newPage();
    const reports = watchReports(page);
    await page.goto(site.url);
    const name = await shown(page);
    given.push(name);
    await expect.poll(() => reports).toEqual([{ step: 'first-seen', variant: name }]);
    if (visits[name] === undefined) visits[name] = { page, reports };
    else await context.close();
  }
  return { visits: { a: visits.a, b: visits.b }, given };
}

function reportOf(site: Site, ...format: string[]): string {
  const desk = path.resolve(import.meta.dirname, '..', 'desk', 'desk.ts');
  return execFileSync(process.execPath, [desk, 'report', ...format, '--period', '2d'], {
    env: {
      INSTANCE_FOLDER: site.folder,
      ...siteSettings(site.databaseUrl, site.inbox),
      CAMPAIGN_FOLDER: variantsCampaign(),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
}

test('each browser keeps its variant, which appears in form, lead and report', async ({ browser }) => {
  test.slow();
  await using site = await startSite(withVariants());
  const { visits, given } = await oneOfEach(browser, site);
  for (const name of ['a', 'b'] as const) {
    const { page, reports } = visits[name];
    for (const address of [
      '/',
      '/?utm_source=newsletter',
      '/?utm_source=newsletter&utm_term=two words',
      '/#closing',
    ])
      for (let times = 0; times < 2; times += 1) {
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
  const bodies: unknown[] = [];
  const wordings: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/api/leads')) return;
    bodies.push(request.postDataJSON());
    wordings.push(request.headers()['x-consent-version']);
  });
  await page.goto(`${site.url}/?utm_source=newsletter`);
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Where Shall We Send It?' })).toBeVisible();
  await expect(page.getByRole('checkbox', { name: /^Yes, send me the guide/ })).toBeVisible();
  await visitor.fillForm();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Where Shall We Send It?' })).toBeVisible();
  await page.getByRole('checkbox').check();
  await visitor.sendForm();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  await page.reload();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await visitor.enterCode(await visitor.mailedCode());
  await expect(page.getByRole('article')).toBeVisible();
  expect(bodies).toEqual([
    {
      name: 'Ada Lovelace',
      company: 'Analytical Engines',
      email: visitor.email,
      consent: true,
      variant: 'b',
    },
  ]);
  expect(wordings).toEqual([expect.stringMatching(/^[0-9a-f]{12}$/)]);
  expect(reports.slice(0, 2)).toEqual([
    { step: 'first-seen', variant: 'b' },
    { step: 'opened', variant: 'b' },
  ]);

  await site.stop('SIGINT');
  const { byVariant: [comparison] = [], bySource } = JSON.parse(reportOf(site, '--json')) as Report;
  expect(comparison?.variants.map(({ name, views, leads }) => ({ name, views, leads }))).toEqual([
    { name: 'a', views: given.filter((name) => name === 'a').length, leads: 0 },
    { name: 'b', views: given.filter((name) => name === 'b').length, leads: 1 },
  ]);
  expect(comparison?.verdicts).toMatchObject([{ variant: 'b', type: 'open', leading: 'b' }]);
  expect(bySource.find(({ name }) => name === 'newsletter')).toMatchObject({ leads: 1 });
  const text = reportOf(site, '--text');
  expect(text).toContain('It is not clear yet which of a and b is better');
  expect(text).toContain('The consent wording differs between the variants');
  for (const visit of Object.values(visits)) await visit.page.context().close();
});

test('previewing a variant counts and stores nothing, with or without scripts', async ({
  page,
  browser,
  startOwnSite,
}) => {
  test.slow();
  const site = await startOwnSite(withVariants());
  const reports = watchReports(page);
  const bodies: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/leads')) bodies.push(request.postDataJSON());
  });
  for (const name of ['a', 'b'] as const) {
    await page.goto(`${site.url}/?variant=${name}`);
    expect(await shown(page)).toBe(name);
  }
  const visitor = createVisitor(page, site);
  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  await visitor.enterCode(await visitor.mailedCode());
  await expect(page.getByRole('article')).toBeVisible();
  expect(reports).toEqual([]);
  expect(bodies).toEqual([expect.not.objectContaining({ variant: expect.anything() })]);
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
  const withoutScripts = await browser.newContext({ javaScriptEnabled: false, userAgent: 'Googlebot/2.1' });
  const plain = await withoutScripts.newPage();
  for (const name of ['a', 'b'] as const) {
    await plain.goto(`${site.url}/?variant=${name}`);
    expect(await shown(plain)).toBe(name);
  }
  await plain.goto(site.url);
  expect(['a', 'b']).toContain(await shown(plain));
  await withoutScripts.close();
  await site.stop('SIGINT');
  const report = JSON.parse(reportOf(site, '--json')) as Report;
  expect(report.funnel?.map(({ step }) => step)).toEqual(['asked', 'mailed', 'entered']);
  expect(report.byVariant?.[0]?.since).toBe(null);
});
