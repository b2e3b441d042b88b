import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { withOwnCampaign } from '#testing/own-campaign-site.ts';
import { createVisitor, expect, test } from './fixtures.ts';

const FILE = `%PDF-1.7\n${'The guide. '.repeat(20_000)}`;

test.setTimeout(120_000);

test('the guide can be downloaded below the article during the session', async ({ page, context }) => {
  await withOwnCampaign(
    (folder) => {
      writeFileSync(path.join(folder, 'article', 'the-guide.pdf'), FILE);
      appendFileSync(
        path.join(folder, 'site.yaml'),
        '\nnoindex: true\ndownload:\n  label: Download as PDF\n  file: the-guide.pdf\nreadOn:\n  label: Read the full guide\n  href: https://example.com/guide\n',
      );
    },
    async (site) => {
      await test.step('a page with noindex tells every robot not to index it', async () => {
        const get = (url: string) => page.request.get(site.url + url);
        for (const url of ['/', '/no-such-page']) {
          const answer = await get(url);
          expect(answer.headers()['x-robots-tag'], url).toBe('noindex');
          expect((await answer.text()).match(/<meta name="robots"[^>]*>/g), url).toEqual([
            '<meta name="robots" content="noindex">',
          ]);
        }
        expect((await get('/media/og.png')).headers()['x-robots-tag']).toBe('noindex');
        expect(await (await get('/robots.txt')).text()).toBe('User-agent: *\nDisallow: /api/\n');
        expect((await get('/sitemap.xml')).status()).toBe(404);
      });

      const visitor = createVisitor(page, site);
      await visitor.startAtArticle();
      const button = page.getByRole('button', { name: 'Download as PDF' });
      const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
      expect(download.suggestedFilename()).toBe('the-guide.pdf');
      expect(readFileSync(await download.path(), 'utf8')).toBe(FILE);
      await expect(visitor.article).toBeVisible();

      await context.setOffline(true);
      await button.click();
      await expect(visitor.toast.filter({ hasText: 'Download as PDF' })).toContainText('could not be loaded');
      await context.setOffline(false);

      await context.clearCookies();
      await button.click();
      await expect(page.getByRole('alert')).toContainText('Your access has ended');
      await page.getByRole('button', { name: 'Get a new code' }).click();
      await expect(visitor.form).toBeVisible();
    },
  );
});
