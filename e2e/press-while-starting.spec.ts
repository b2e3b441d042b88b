import { boxOf, expect, openWithFonts, test } from './fixtures.ts';

test.use({ reducedMotion: 'no-preference' });

test('a press during hydration opens the form once', async ({ page }) => {
  await page.addInitScript(() => {
    // React listens at its root from the start of hydration, which is when the visitor presses.
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
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  expect(await page.evaluate(() => history.length)).toBe(before + 1);
});

test('a tap on a translated page that is still starting is not lost', async ({ browser, site }) => {
  await using context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  const page = await context.newPage();
  await page.addInitScript(() => {
    // Chromium reports a mouse move to 0, 0 after loading, which would start the application before the tap.
    addEventListener('pointermove', (event) => event.stopImmediatePropagation(), true);
  });
  await openWithFonts(page, site.url);
  await page.evaluate(() => {
    const texts: Text[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    for (const text of texts) {
      if (!text.data.trim() || text.parentElement?.closest('script,style')) continue;
      const font = document.createElement('font');
      font.textContent = text.data.replace(/(\w{6,})/g, '$1en');
      text.replaceWith(font);
    }
  });
  await expect(page.locator('button[name=hero]')).toBeVisible();
  const { x, y, width, height } = await boxOf(page.locator('button[name=hero]'));
  const finger = { x: x + width / 2, y: y + height / 2 };
  const devtools = await context.newCDPSession(page);
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [finger] });
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 60)));
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeVisible();
});

test('dragging a press off its button while the page starts opens nothing', async ({ page }) => {
  await page.addInitScript(() => {
    addEventListener('pointermove', (event) => event.stopImmediatePropagation(), true);
  });
  await openWithFonts(page);
  await page.evaluate(() => {
    for (const text of document.querySelectorAll('button[name=hero] span')) text.textContent = 'Übersetzt';
  });
  const { x, y } = await boxOf(page.locator('button[name=hero]'));
  await page.mouse.move(x + 20, y + 20);
  await page.mouse.down();
  await expect(page.locator('button[name=hero]')).toContainText('Get Your Free Copy');
  await page.mouse.move(x + 20, y + 200);
  await page.mouse.up();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toHaveCount(0);
});
