import { boxAtRest, expect, test } from './fixtures.ts';

test('the article ends in something to do: share, and the links of the foot', async ({ page, visitor }) => {
  await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined }));
  await page.goto('/');
  await visitor.readArticle();
  const end = page.getByRole('region', { name: 'Worth passing on?' });
  await end.getByRole('button', { name: 'Send it to a colleague' }).click();
  await expect(visitor.toast).toContainText(/Link copied|Could not share/);
  await expect(page.getByRole('contentinfo').getByRole('link', { name: 'Privacy Policy' })).toBeVisible();
});

test('on a phone "Verified!" does not cover the first lines of the article', async ({ page, visitor }) => {
  await page.setViewportSize({ width: 375, height: 667 });
  await page.goto('/');
  await visitor.readArticle();
  await expect(visitor.toast).toContainText('Verified!');
  const { y: top } = await boxAtRest(visitor.toast);
  for (const part of [
    page.getByRole('heading', { level: 1 }),
    page.getByRole('article').locator('p').first(),
  ]) {
    const { y, height } = await boxAtRest(part);
    expect(y + height).toBeLessThanOrEqual(top);
  }
});
