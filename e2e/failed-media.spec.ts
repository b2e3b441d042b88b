import { expectNoViolations } from './axe.ts';
import { expect, resize, test } from './fixtures.ts';

test('initials or a message replace media that fail to load', async ({ page, visitor, expectedErrors }) => {
  expectedErrors.push(/avatar-|media\/film\./);
  await page.route(/\/media\/(avatar-|film\.)/, (route) => route.abort());
  await resize(page, { width: 1440, height: 900 });
  await page.goto('/');
  await page.getByRole('button', { name: 'Play video' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'The film cannot be played here.' })).toBeVisible();
  const points = page.locator('section', { has: page.locator('video') }).getByRole('listitem');
  await expect(points).toHaveCount(3);

  await page.getByRole('heading', { name: 'Proven Results From Real Teams' }).scrollIntoViewIfNeeded();
  const person = page.getByRole('figure').filter({ hasText: 'Sarah Lindqvist' });
  await expect(person.getByText('SL', { exact: true })).toBeVisible();
  await expectNoViolations(page, 'landing');
  await expect(person.locator('img')).toHaveCount(1);
  await visitor.openForm();
  await expectNoViolations(page, 'form');
});

test('a film whose first format fails plays in the second', async ({ page, expectedErrors }) => {
  expectedErrors.push(/media\/film\.webm/);
  await page.route('**/media/film.webm', (route) => route.abort());
  await page.goto('/');
  await page.getByRole('button', { name: 'Play video' }).click();
  const source = () => page.locator('video').evaluate((film: HTMLVideoElement) => film.currentSrc);
  await expect.poll(source).toContain('film.mp4');
  await expect(page.getByRole('alert')).toHaveCount(0);
});
