import { expect, test } from './fixtures.ts';

test('the page has the meta tags for search engines and link previews', async ({ page, site }) => {
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
  const icons = manifest.icons.map(({ src }) => src);
  for (const icon of [...icons, '/favicon.ico', '/favicon.svg', '/apple-touch-icon.png'])
    expect((await page.request.get(icon)).status(), icon).toBe(200);
  await expect(page.locator('link[rel=manifest]')).toHaveAttribute('href', '/site.webmanifest');
});
