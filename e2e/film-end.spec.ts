// What the film leads to when it has ended.
import { expect, test } from './fixtures.ts';

test('a button over the ended film leads to the form, and the player stays', async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 800 });
  await page.goto('/');
  await page.getByRole('button', { name: 'Play video' }).click();
  const video = page.locator('video');
  await expect
    .poll(() => video.evaluate((element: HTMLVideoElement) => element.currentTime))
    .toBeGreaterThan(0);
  const figure = page.getByRole('figure').filter({ has: video });
  const button = figure.getByRole('button', { name: 'Get Your Free Copy', exact: true });
  await expect(button).toHaveCount(0);

  await video.evaluate((element: HTMLVideoElement) => {
    element.currentTime = element.duration;
  });
  await expect(button).toBeVisible();
  await expect(video).toBeVisible();
  const film = await video.boundingBox();
  const over = await button.boundingBox();
  expect(over?.y).toBeGreaterThan(film?.y ?? 0);
  // The player's own buttons stand in the lowest part.
  const bottom = (over?.y ?? 0) + (over?.height ?? 0);
  expect(bottom).toBeLessThan((film?.y ?? 0) + 0.7 * (film?.height ?? 0));

  // Who plays it again does not want the button in the way.
  await video.evaluate((element: HTMLVideoElement) => {
    element.currentTime = 0;
    return element.play();
  });
  await expect(button).toHaveCount(0);
  await video.evaluate((element: HTMLVideoElement) => {
    element.currentTime = element.duration;
  });
  await button.click();
  await expect(page.getByLabel('Full Name *')).toBeVisible();
  await page.goBack();
  const play = page.getByRole('button', { name: 'Play video' });
  await expect(play).toBeFocused();
  await expect(play).toBeInViewport();
});
