import { blocksContextMenu, boxOf, expect, requestsTo, resize, stopClock, test } from './fixtures.ts';

test('the film starts as a thumbnail, plays with controls and ends with a button', async ({ page }) => {
  const requested = requestsTo(page, /film/);
  await resize(page, { width: 375, height: 800 });
  await page.goto('/');
  const play = page.getByRole('button', { name: 'Play video' });
  await play.scrollIntoViewIfNeeded();
  const video = page.locator('video');
  await expect(video).toHaveCount(0);
  expect(requested).toEqual([]);

  await play.click();
  await expect(video).toHaveAttribute('controls', '');
  await expect(video).toHaveAttribute('controlslist', 'nodownload');
  await expect(play).toHaveCount(0);
  const time = () => video.evaluate((element: HTMLVideoElement) => element.currentTime);
  await expect.poll(time).toBeGreaterThan(0);
  await expect(page.locator('video track')).toHaveAttribute('kind', 'captions');
  const captions = () =>
    video.evaluate(({ textTracks: [track] }: HTMLVideoElement) => [
      track?.mode,
      (track?.cues?.length ?? 0) > 8,
    ]);
  await expect.poll(captions).toEqual(['showing', true]);
  expect(await blocksContextMenu(video)).toBe(true);

  const button = page
    .getByRole('figure')
    .filter({ has: video })
    .getByRole('button', { name: 'Get Your Free Copy', exact: true });
  await expect(button).toHaveCount(0);
  const goToEnd = () =>
    video.evaluate((element: HTMLVideoElement) => {
      element.currentTime = element.duration;
    });
  await goToEnd();
  await expect(button).toBeVisible();
  await expect(video).toBeVisible();
  const film = await boxOf(video);
  const over = await boxOf(button);
  expect(over.y).toBeGreaterThan(film.y);
  expect(over.y + over.height).toBeLessThan(film.y + 0.7 * film.height);

  await video.evaluate((element: HTMLVideoElement) => {
    element.currentTime = 0;
    return element.play();
  });
  await expect(button).toHaveCount(0);
  await goToEnd();
  await button.click();
  await expect(page.getByLabel('Full Name *')).toBeVisible();
  await page.goBack();
  await expect(play).toBeFocused();
  await expect(play).toBeInViewport();
});

test('the film starts 100 ms after its button is pressed', async ({ page }) => {
  await page.clock.install();
  await page.goto('/');
  await page.evaluate(() => {
    HTMLMediaElement.prototype.play = async function play(this: HTMLMediaElement) {
      this.dataset['played'] = 'yes';
    };
  });
  await stopClock(page);
  await page.getByRole('button', { name: 'Play video' }).click();
  const video = page.locator('video');
  await expect(video).toBeVisible();
  await page.clock.runFor(99);
  expect(await video.getAttribute('data-played')).toBeNull();
  await page.clock.runFor(1);
  expect(await video.getAttribute('data-played')).toBe('yes');
});
