import { createVisitor, expect, test } from './fixtures.ts';
import { API, CONSENT_VERSION_HEADER } from '#shared/api.ts';
import { campaignUnderPath } from '#testing/other-campaigns.ts';
import { startSite, type Site } from '#testing/start-site.ts';

const askWithoutProof = (site: Site) =>
  fetch(`${site.url}${API.leads}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Eve', company: 'Storm', email: 'stranger@example.com', consent: true }),
  });

test.setTimeout(120_000);

const PATH = '/guide';

test('while the breaker is open, the browser solves a proof of work and gets the code', async ({
  browser,
}) => {
  const site = await startSite({
    env: {
      BREAKER_CODES_PER_MINUTE: '1',
      OPERATOR_EMAIL: 'operator@example.com',
      PUBLIC_URL: `http://127.0.0.1${PATH}`,
      CAMPAIGN_FOLDER: campaignUnderPath(),
    },
  });
  try {
    const walk = async () => {
      const page = await browser.newPage();
      const loaded: string[] = [];
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        loaded.push(pathname);
        if (pathname === PATH + API.leads)
          expect(request.headers()[CONSENT_VERSION_HEADER]).toMatch(/^[0-9a-f]{12}$/);
      });
      await page.goto(`${site.url}/`);
      const visitor = createVisitor(page, site);
      await visitor.readArticle();
      await page.close();
      return loaded;
    };

    expect(await walk()).not.toContain(`${PATH}/proof-of-work.js`);
    await expect.poll(async () => (await askWithoutProof(site)).status).toBe(428);
    const loaded = await walk();
    expect(loaded.filter((address) => address === `${PATH}/proof-of-work.js`)).toHaveLength(1);
    expect(loaded.filter((address) => address === PATH + API.leads)).toHaveLength(2);
    expect(loaded.filter((address) => !address.startsWith(`${PATH}/`))).toEqual([]);

    expect((await askWithoutProof(site)).status).toBe(428);
    expect((await site.inbox.waitForMail('operator@example.com', 1)).parsed.subject).toMatch(
      /misusing the form/,
    );
    expect(site.output()).toContain('THE LIST-BOMB BREAKER OPENED');
  } finally {
    await site.close();
  }
});
