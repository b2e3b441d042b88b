// What stands beside the form: what the visitor gets for an address.
import { expect, openWithFonts, test } from './fixtures.ts';

test('beside the form stand the guide, what it teaches and one voice @layout', async ({ page, visitor }) => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await openWithFonts(page);
  await visitor.openForm();
  const promise = page.getByRole('complementary');
  await expect(promise).toBeVisible();
  await expect(promise.getByRole('heading')).toHaveText('What You Will Have');
  const guide = promise.getByRole('img', { name: /guide/i });
  await expect(guide).toBeVisible();
  await expect
    .poll(() => guide.evaluate((element: HTMLImageElement) => element.naturalWidth))
    .toBeGreaterThan(0);
  await expect(promise.getByRole('listitem')).toHaveCount(3);
  await expect(promise.getByText('Sarah Lindqvist')).toBeVisible();
  await expect(promise.getByText('3.5x improvement in 60 days')).toBeVisible();

  const form = await page.locator('form').boundingBox();
  const beside = await promise.boundingBox();
  expect(beside?.x).toBeGreaterThan((form?.x ?? 0) + (form?.width ?? 0));
});

for (const width of [320, 375, 768])
  test(`at ${width} px the promise is one line above the form @layout`, async ({ page, visitor }) => {
    await page.setViewportSize({ width, height: 800 });
    await openWithFonts(page);
    await visitor.openForm();
    await expect(page.getByRole('complementary')).toHaveCount(0);
    const line = page.getByText('Six chapters on emails people answer.');
    await expect(line).toBeVisible();
    const lines = await line.evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size;
    });
    expect(lines).toBe(1);
  });

test('nothing on the form counts its fields', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.openForm();
  await expect(page.getByRole('main')).not.toContainText(/\b(three|four) fields\b/i);
});
