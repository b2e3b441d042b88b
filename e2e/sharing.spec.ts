import { expect, test } from './fixtures.ts';

test('search engines and link previews find what they need, with the origin of this server', async ({
  page,
  site,
}) => {
  const answer = await page.goto('/');
  expect(answer?.headers()).not.toHaveProperty('x-robots-tag');
  await expect(page.locator('meta[name=robots]')).toHaveCount(0);
  const origin = `http://localhost:0`;
  const content = (selector: string) => page.locator(selector).getAttribute('content');
  await expect(page).toHaveTitle(/Master AI-Powered Cold Outreach/);
  expect(await content('meta[name=description]')).toMatch(/free guide for marketing/);
  expect(await page.locator('link[rel=canonical]').getAttribute('href')).toBe(`${origin}/`);
  expect(await content('meta[property="og:title"]')).toMatch(/Master AI-Powered Cold Outreach/);
  expect(await content('meta[property="og:url"]')).toBe(`${origin}/`);
  expect(await content('meta[name="twitter:card"]')).toBe('summary_large_image');
  const image = (await content('meta[property="og:image"]')) ?? '';
  expect(image).toBe(`${origin}/media/og.png`);
  const picture = await page.request.get(site.url + new URL(image).pathname);
  expect(picture.headers()['content-type']).toBe('image/png');

  const data = JSON.parse(
    (await page.locator('script[type="application/ld+json"]').textContent()) ?? '',
  ) as Record<string, unknown>;
  expect(data).toMatchObject({ '@context': 'https://schema.org', '@type': 'WebPage', url: `${origin}/` });

  const robots = await (await page.request.get('/robots.txt')).text();
  expect(robots).toContain(`Sitemap: ${origin}/sitemap.xml`);
  expect(robots).toContain('Disallow: /api/');
  const sitemap = await page.request.get('/sitemap.xml');
  expect(sitemap.headers()['content-type']).toContain('xml');
  expect(await sitemap.text()).toContain(`<loc>${origin}/</loc>`);
  const manifest = (await (await page.request.get('/site.webmanifest')).json()) as {
    icons: { src: string }[];
  };
  for (const { src } of [
    ...manifest.icons,
    { src: '/favicon.ico' },
    { src: '/favicon.svg' },
    { src: '/apple-touch-icon.png' },
  ]) {
    expect((await page.request.get(src)).status(), src).toBe(200);
  }
  await expect(page.locator('link[rel=manifest]')).toHaveAttribute('href', '/site.webmanifest');
});

test('files are served compressed, revalidated or kept for ever, in ranges, and under a strict policy', async ({
  page,
  site,
}) => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    page.request.fetch(site.url + path, { headers });
  const home = await get('/', { 'accept-encoding': 'br' });
  expect(home.headers()['content-encoding']).toBe('br');
  expect(home.headers()['cache-control']).toBe('no-cache');
  expect((await get('/', { 'if-none-match': home.headers()['etag'] ?? '' })).status()).toBe(304);
  const policy = home.headers()['content-security-policy'] ?? '';
  expect(policy).not.toContain('unsafe');
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("default-src 'none'");
  expect(home.headers()['x-content-type-options']).toBe('nosniff');
  expect(home.headers()['referrer-policy']).toBe('strict-origin-when-cross-origin');
  expect(home.headers()['permissions-policy']).toContain('camera=()');

  const app = /data-app="([^"]+)"/.exec(await home.text())?.[1] ?? '';
  for (const encoding of ['br', 'gzip']) {
    const script = await get(app, { 'accept-encoding': encoding });
    expect(script.headers()['content-encoding']).toBe(encoding);
    expect(script.headers()['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(script.headers()['vary']?.toLowerCase()).toContain('accept-encoding');
  }
  const plain = await get(app, { 'accept-encoding': 'identity' });
  expect(plain.headers()['content-encoding']).toBeUndefined();
  const etag = plain.headers()['etag'] ?? '';
  expect((await get(app, { 'if-none-match': etag, 'accept-encoding': 'identity' })).status()).toBe(304);

  for (const [range, status, length] of [
    ['bytes=0-99', 206, 100],
    ['bytes=-50', 206, 50],
    ['bytes=99999999-', 416, undefined],
  ] as const) {
    const part = await get('/media/film.webm', { range });
    expect(part.status(), range).toBe(status);
    if (length !== undefined) expect((await part.body()).length).toBe(length);
  }
});
