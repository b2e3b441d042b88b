import { GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { freePort } from '#testing/free-port.ts';
import { campaignUnder } from '#testing/other-campaigns.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { startProxy } from '#testing/proxies.ts';
import { startSite } from '#testing/start-site.ts';
import { createVisitor, expect, test } from './fixtures.ts';

test.use({ ignoreHTTPSErrors: true });
test.skip(findProgram('nginx') === undefined, notTested('nginx'));

/** @param addressesOf maps nginx's port to the PUBLIC_URL of each guide */
async function startGuides(
  place: 'guides' | 'path',
  addressesOf: (port: number) => readonly [string, string],
  campaigns: readonly [string, string],
) {
  const ports = {
    http: await freePort(),
    https: await freePort(),
    pages: [await freePort(), await freePort()],
  };
  const start = (at: 0 | 1, campaign: string) =>
    startSite({
      campaign,
      env: {
        PORT: String(ports.pages[at]),
        PUBLIC_URL: addressesOf(ports.https)[at],
        TRUST_PROXY: '1',
      },
    });
  const sites = [await start(0, campaigns[0]), await start(1, campaigns[1])] as const;
  const proxy = await startProxy('nginx', ports, { place });
  const [first, second] = addressesOf(ports.https);
  return {
    first: { ...sites[0], url: first },
    second: { ...sites[1], url: second },
    close: async () => {
      await proxy.close();
      for (const site of sites) await site.close();
    },
  };
}

test('each host name shows its own guide and sends forms to the same guide', async ({ page }) => {
  const { first, second, close } = await startGuides(
    'guides',
    (port) => [`https://spring.localhost:${port}`, `https://autumn.localhost:${port}`],
    [TEST_CAMPAIGN, GERMAN_CAMPAIGN],
  );
  try {
    await page.goto(second.url);
    await expect(page.locator('html')).toHaveAttribute('lang', 'de');
    await page.goto(first.url);
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    const visitor = createVisitor(page, first);
    await visitor.readArticle();
    expect(first.inbox.mailsTo(visitor.email)).toHaveLength(1);
    expect(second.inbox.mailsTo(visitor.email)).toHaveLength(0);
  } finally {
    await close();
  }
});

test('two guides under paths of one host keep sessions and typed text apart', async ({ page }) => {
  const { first, second, close } = await startGuides(
    'path',
    (port) => [`https://localhost:${port}/guide`, `https://localhost:${port}/other`],
    [campaignUnder('/guide'), campaignUnder('/other')],
  );
  try {
    for (const site of [first, second]) {
      await page.goto(`${site.url}/`);
      const visitor = createVisitor(page, site);
      await visitor.openForm();
      await expect(page.getByLabel('Full Name *')).toHaveValue('');
      await visitor.fillForm();
      await page.goto(`${site.url}/`);
      await visitor.readArticle();
    }
    for (const site of [first, second]) {
      expect((await page.request.get(`${site.url}/api/article`)).status()).toBe(200);
      const paths = (await page.context().cookies(`${site.url}/`)).map(({ path }) => path);
      expect([...new Set(paths)]).toEqual([new URL(site.url).pathname]);
    }
  } finally {
    await close();
  }
});
