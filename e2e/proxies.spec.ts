import { GERMAN_CAMPAIGN } from '#testing/built-site.ts';
import { startOnHeldSocket, repeatRequests } from '#testing/held-socket.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { filledForm } from '#testing/server-under-test.ts';
import type { Site } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';
import { createVisitor, expect, inDatabase, test } from './fixtures.ts';
import { ask, startBehind, type HttpResponse, type Guides } from './proxy-fixtures.ts';

const postForm = (origin: string, email: string, headers: Readonly<Record<string, string>> = {}) =>
  ask(`${origin}/api/leads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, ...headers },
    body: JSON.stringify(filledForm({ email })),
  });

for (const name of ['nginx', 'caddy'] as const) {
  test.describe(`page behind ${name}`, () => {
    // A second worker would start another site.
    test.describe.configure({ mode: 'default' });
    test.use({ ignoreHTTPSErrors: true });
    test.skip(findProgram(name) === undefined, notTested(name));

    let site: Site;
    let guides: Guides;
    test.beforeAll(async () => {
      guides = await startBehind(name, 'root', [{ urlAt: (port) => `https://localhost:${port}` }]);
      site = guides.sites[0]!;
    });
    test.afterAll(() => guides?.close());

    test('a visitor behind a proxy reaches the article over TLS and HTTP/2', async ({ page, context }) => {
      const visitor = createVisitor(page, site);
      const answer = await page.goto(site.url);
      expect(answer?.status(), await answer?.text()).toBe(200);
      const protocol = await page.evaluate(() => {
        const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
        return entry?.nextHopProtocol;
      });
      expect(protocol).toBe('h2');
      await visitor.readArticle();
      const cookies = await context.cookies();
      expect(cookies.length).toBeGreaterThan(0);
      for (const cookie of cookies)
        expect(cookie).toMatchObject({
          name: expect.stringMatching(/^__Host-/),
          secure: true,
          httpOnly: true,
        });
      await page.reload();
      await expect(visitor.article).toBeVisible();
    });

    test('a proxy passes on every header unchanged and once', async () => {
      const plain = await ask(`${site.url}/`, { headers: { 'accept-encoding': 'identity' } });
      expect(plain.status).toBe(200);
      expect(plain.headers['content-encoding']).toBeUndefined();
      const direct = await ask(`http://127.0.0.1:${guides.ports.pages[0]}/`, {
        headers: { 'accept-encoding': 'br' },
      });
      const compressed = await ask(`${site.url}/`, { headers: { 'accept-encoding': 'br' } });
      expect(compressed.headers['content-encoding']).toBe('br');
      expect(compressed.headers.etag).toBe(direct.headers.etag);
      const own = Object.keys(direct.headers).filter(
        (header) => !['connection', 'keep-alive', 'date', 'x-request-id'].includes(header),
      );
      for (const header of own) {
        expect(compressed.headers[header], header).toBe(direct.headers[header]);
        const times = compressed.rawHeaders.filter(
          (sent, at) => at % 2 === 0 && sent.toLowerCase() === header,
        );
        expect(times, header).toHaveLength(1);
      }
      expect(own).toContain('strict-transport-security');
      const part = await ask(`${site.url}/media/film.mp4`, { headers: { range: 'bytes=0-99' } });
      expect(part.status).toBe(206);
      expect(part.headers['content-length']).toBe('100');
      const missing = await ask(`${site.url}/nothing`);
      expect(missing.status).toBe(404);
      expect(missing.body).toContain('404 Page Not Found');
    });

    test('a proxy redirects http to https, hides metrics and refuses large bodies', async () => {
      const redirect = await ask(`http://localhost:${guides.ports.http}/?utm_source=mail`);
      expect([301, 308]).toContain(redirect.status);
      expect(redirect.headers.location).toMatch(/^https:\/\/localhost(:\d+)?\/\?utm_source=mail$/);
      expect((await ask(`${site.url}/metrics`)).status).toBe(404);
      const headers = { 'content-type': 'application/json', origin: site.url };
      const body = 'x'.repeat(1_000_000);
      expect((await ask(`${site.url}/api/leads`, { method: 'POST', headers, body })).status).toBe(413);
    });

    test('a visitor cannot choose the IP address that counts for limits', async () => {
      expect((await postForm(site.url, 'ada@example.com', { 'x-forwarded-for': '6.6.6.6' })).status).toBe(
        202,
      );
      const form = await inDatabase(site, (db) =>
        db
          .selectFrom('submissions')
          .select('client_address')
          .where('email', '=', 'ada@example.com')
          .executeTakeFirst(),
      );
      expect(form?.client_address).toMatch(/^(127\.0\.0\.1|::1)$/);
    });

    test("while the page restarts, a visitor never sees the proxy's error page", async () => {
      test.setTimeout(180_000);
      await site.stop();
      const early = name === 'caddy' ? ask(site.url) : postForm(site.url, 'grace@example.com');
      if (name === 'nginx') {
        const { status, headers, body } = await early;
        expect(status).toBe(503);
        expect(headers['content-type']).toBe('text/plain; charset=utf-8');
        expect(headers['retry-after']).toBe('5');
        expect(body).toBe('This page will be back in a moment. Please try again in a few seconds.');
      }
      const env = { ...site.env, LEADS_PER_IP_PER_HOUR: '0', BREAKER_CODES_PER_MINUTE: '0' };
      const page = await startOnHeldSocket(env, site.folder, { port: guides.ports.pages[0]! });
      let forms = 0;
      const wrong = ({ status, headers, body }: HttpResponse, expected: number) =>
        status === expected || (headers['x-error-code'] === 'unavailable' && headers['retry-after'] === '5')
          ? null
          : `${status} ${body}`;
      const get = async () => wrong(await ask(site.url), 200);
      const post = async () => {
        forms += 1;
        return wrong(await postForm(site.url, `visitor-${forms}@example${forms}.com`), 202);
      };
      try {
        if (name === 'caddy') expect((await early).status).toBe(200);
        const answer = await postForm(site.url, 'grace@example.com');
        expect(answer.status, answer.body).toBe(202);
        await test.step('a restart with a systemd socket does not refuse any page view or form', async () => {
          const stream = repeatRequests([get, get, get, get, post, post]);
          try {
            await until(() => forms > 1);
            await page.restart();
          } finally {
            expect(await stream.stop()).toEqual([]);
          }
        });
      } finally {
        await page.stop();
      }
    });
  });
}

test.describe('guides under host names', () => {
  test.use({ ignoreHTTPSErrors: true });
  test.skip(findProgram('nginx') === undefined, notTested('nginx'));

  test('each host name shows its own guide and sends forms to the same guide', async ({ page }) => {
    const guides = await startBehind('nginx', 'guides', [
      { urlAt: (port) => `https://spring.localhost:${port}` },
      { urlAt: (port) => `https://autumn.localhost:${port}`, campaign: GERMAN_CAMPAIGN },
    ]);
    const [first, second] = guides.sites as [Site, Site];
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
      await page.close();
      await guides.close();
    }
  });
});
