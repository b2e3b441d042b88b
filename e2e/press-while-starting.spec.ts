// A press while the application takes over the prerendered page is answered once.
import { expect, test } from './fixtures.ts';

test('a press between the start of hydration and its end opens the form, once', async ({ page }) => {
  await page.addInitScript(() => {
    // React listens at its root from the moment hydration begins; the visitor presses in that very moment.
    // oxlint-disable-next-line unbound-method -- called on what it was called on, below
    const listen = EventTarget.prototype.addEventListener;
    let pressed = false;
    EventTarget.prototype.addEventListener = function (...taken: Parameters<typeof listen>) {
      listen.apply(this, taken);
      if (pressed || !(this instanceof HTMLElement) || this.id !== 'root') return;
      pressed = true;
      queueMicrotask(() => {
        const action = Array.from(document.querySelectorAll('button')).find(
          ({ textContent }) => textContent === 'Get Your Free Copy',
        );
        action?.click();
      });
    };
  });
  await page.goto('/');
  const before = await page.evaluate(() => history.length);
  await page.mouse.move(5, 300);
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  // And stays: nothing is pressed a second time there.
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  expect(await page.evaluate(() => history.length)).toBe(before + 1);
});
