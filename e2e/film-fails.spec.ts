import { expect, test } from './fixtures.ts';

test('a film of which no file can be played says so, and its points stay readable', async ({
  page,
  expectedComplaints,
}) => {
  expectedComplaints.push(/media\/film\./);
  await page.route('**/media/film.*', (route) => route.abort());
  await page.goto('/');
  await page.getByRole('button', { name: 'Play video' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'The film cannot be played here.' })).toBeVisible();
  const points = page.locator('section', { has: page.locator('video') }).getByRole('listitem');
  await expect(points).toHaveCount(3);
});

test('the captions are shown without being asked for', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Play video' }).click();
  const track = () =>
    page.locator('video').evaluate((video) => (video as HTMLVideoElement).textTracks[0]?.mode ?? 'none');
  await expect.poll(track).toBe('showing');
});
