import { execFileSync } from 'node:child_process';
import path from 'node:path';

import type { Page } from '@playwright/test';

import type { Report } from '#desk/report/report.ts';
import { siteSettings, startSite, type Site } from '#testing/start-site.ts';
import { createVisitor, expect, test, type Visitor } from './fixtures.ts';

// Headless Chromium identifies itself as a robot, which the server does not count.
test.use({
  userAgent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
});

const STEPS = ['opened', 'quarter', 'half', 'three-quarters', 'whole'];

function watchSent(page: Page): { readonly steps: string[]; readonly cookies: Promise<boolean>[] } {
  const sent = { steps: [] as string[], cookies: [] as Promise<boolean>[] };
  page.on('request', (request) => {
    if (!request.url().endsWith('/api/funnel')) return;
    sent.steps.push((request.postDataJSON() as { step: string }).step);
    sent.cookies.push(request.allHeaders().then((headers) => 'cookie' in headers));
  });
  return sent;
}

async function readToEnd({ page, article }: Visitor): Promise<void> {
  const end = page.getByRole('contentinfo');
  await article.hover();
  await expect(async () => {
    await page.mouse.wheel(0, 400);
    await expect(end).toBeInViewport({ timeout: 1 });
  }).toPass({ intervals: [100] });
}

async function reportOf(site: Site): Promise<Report> {
  await site.stop('SIGINT');
  const desk = path.resolve(import.meta.dirname, '..', 'desk', 'desk.ts');
  const report = execFileSync(process.execPath, [desk, 'report', '--json', '--period', '2d'], {
    env: { INSTANCE_FOLDER: site.folder, ...siteSettings(site.databaseUrl, site.inbox) },
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
  return JSON.parse(report) as Report;
}

test('each step of a visit is counted once unless the visitor opted out', async ({ page, browser }) => {
  test.slow();
  const site = await startSite();
  try {
    const sent = watchSent(page);
    const visitor = createVisitor(page, site);
    await page.goto(`${site.url}/?utm_source=newsletter`);
    await visitor.askForCode();
    expect(sent.steps).toEqual(['opened']);
    await visitor.openArticle();
    expect(sent.steps).toEqual(['opened']);
    await readToEnd(visitor);
    await expect.poll(() => sent.steps).toEqual(STEPS);
    await page.mouse.wheel(0, -20_000);
    await readToEnd(visitor);
    await page.getByRole('button', { name: 'Back' }).click();
    await visitor.openForm();
    expect(sent.steps).toEqual(STEPS);
    expect(await Promise.all(sent.cookies)).toEqual(STEPS.map(() => false));

    for (const [wish, value, header] of [
      ['globalPrivacyControl', true, 'sec-gpc'],
      ['doNotTrack', '1', 'dnt'],
    ] as const)
      await test.step(wish, async () => {
        const context = await browser.newContext({ extraHTTPHeaders: { [header]: '1' } });
        await context.addInitScript(
          ([name, wished]) => Object.defineProperty(navigator, name, { get: () => wished }),
          [wish, value] as const,
        );
        const quiet = createVisitor(await context.newPage(), site);
        const told = watchSent(quiet.page);
        await quiet.page.goto(site.url);
        await quiet.readArticle();
        await readToEnd(quiet);
        expect(told.steps).toEqual([]);
        await context.close();
      });

    await page.close();
    const report = await reportOf(site);
    expect(report.funnel).toEqual([
      { step: 'seen', times: 1 },
      { step: 'opened', times: 1 },
      { step: 'asked', people: 3 },
      { step: 'mailed', people: 3 },
      { step: 'entered', people: 3 },
      { step: 'quarter', times: 1 },
      { step: 'half', times: 1 },
      { step: 'three-quarters', times: 1 },
      { step: 'whole', times: 1 },
    ]);
    expect(report.bySource).toContainEqual({ name: 'newsletter', seen: 1, asked: 1, entered: 1, leads: 1 });
    expect(report.leads).toBe(3);
  } finally {
    await site.close();
  }
  expect(site.output()).not.toContain('newsletter');
});
