import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { withOwnCampaign } from '#testing/own-campaign-site.ts';
import { createVisitor, expect, test } from './fixtures.ts';

const SHOP = 'https://shop.example.com/thank-you';

test.setTimeout(120_000);

test('afterCode opens another page once the code is right, and Back leads to the article', async ({
  page,
}) => {
  await withOwnCampaign(
    (folder) => {
      appendFileSync(
        path.join(folder, 'site.yaml'),
        `\nafterCode: ${SHOP}\nreadOn:\n  label: Book a call\n  href: https://example.com/call\n`,
      );
      const words = path.join(folder, 'interface.yaml');
      writeFileSync(words, readFileSync(words, 'utf8').replace(/^ {2}(?:endTitle|endText): .*\n/gm, ''));
    },
    async (site) => {
      await page.route(SHOP, (route) =>
        route.fulfill({ contentType: 'text/html', body: '<title>Shop</title><h1>Thank you</h1>' }),
      );
      const visitor = createVisitor(page, site);
      await page.goto(site.url);
      await visitor.askForCode();
      await visitor.enterCode(await visitor.mailedCode());
      await expect(page.getByRole('heading', { name: 'Thank you' })).toBeVisible();
      expect(page.url()).toBe(SHOP);

      await page.goBack();
      await expect(visitor.article).toBeVisible();
      const end = page.getByRole('link', { name: 'Book a call' });
      await expect(end).toHaveAttribute('href', 'https://example.com/call');
      await expect(page.getByText('Worth passing on?')).toHaveCount(0);
      const share = page.getByRole('button', { name: 'Send it to a colleague' });
      const colourOf = (one: typeof end) =>
        one.evaluate((element) => getComputedStyle(element).backgroundColor);
      expect(await colourOf(end)).not.toBe(await colourOf(share));
    },
  );
});
