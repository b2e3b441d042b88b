import { boxOf, expect, stopClock, test } from './fixtures.ts';

test('tooltips open after 700 ms, or immediately within 300 ms of another', async ({ page, visitor }) => {
  await page.clock.install();
  await visitor.startAtArticle();
  const toggle = page.getByRole('button', { name: 'Toggle theme' });
  const share = page.getByRole('banner').getByRole('button', { name: 'Share', exact: true });
  const tooltip = page.locator('[role=tooltip]:not([data-state=closed])');
  // Moves the pointer away in steps, because the tooltip stays open as long as the pointer might be moving to it.
  const rest = () => page.mouse.move(300, 400, { steps: 3 });
  const openSlowly = async () => {
    await toggle.hover();
    await page.clock.runFor(699);
    await expect(tooltip).toHaveCount(0);
    await page.clock.runFor(2);
    await expect(tooltip).toHaveText('Switch between light and dark');
  };
  const expectClosed = async () => {
    await expect(tooltip).toHaveCount(0);
    await rest();
    await page.clock.runFor(1000);
  };
  await toggle.hover();
  await expect(tooltip).toBeVisible();
  await stopClock(page);
  await rest();
  await expect(tooltip).toHaveCount(0);
  await page.clock.runFor(299);
  await share.hover();
  await expect(tooltip).toHaveText('Share this guide');
  await rest();
  await expect(tooltip).toHaveCount(0);
  await page.clock.runFor(301);

  await openSlowly();
  // The tooltip is placed a moment after it appears.
  await expect
    .poll(async () => {
      const tip = await boxOf(page.locator('[data-radix-popper-content-wrapper]'));
      const control = await boxOf(toggle);
      const below = tip.y - control.y - control.height;
      const above = control.y - tip.y - tip.height;
      return Math.round(Math.max(below, above));
    })
    .toBe(4);
  await page.keyboard.press('Escape');
  await expectClosed();
  await openSlowly();
  await page.mouse.down();
  await expect(tooltip).toHaveCount(0);
  await page.mouse.up();
  await expectClosed();
  await share.focus();
  await page.keyboard.press('Tab');
  await expect(tooltip).toHaveText('Switch between light and dark');
  await toggle.blur();
  await expectClosed();
  await openSlowly();
  await page.mouse.wheel(0, 300);
  await expectClosed();
});
