import { expect, test } from './fixtures.ts';

for (const reducedMotion of ['no-preference', 'reduce'] as const) {
  test(`stages and their focus are right where motion is ${reducedMotion}`, async ({ page, visitor }) => {
    await page.emulateMedia({ reducedMotion });
    await page.addInitScript(() => {
      const plain = document.startViewTransition.bind(document);
      const fades = window as unknown as { fades: number };
      fades.fades = 0;
      document.startViewTransition = (...options) => {
        fades.fades += 1;
        return plain(...options);
      };
    });
    await page.goto('/');
    // Awake before the press: a press that was repeated does not fade.
    await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).focus();
    await expect(page.getByRole('region', { name: /^Notifications/ })).toBeAttached();
    await visitor.openForm();
    await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
    await visitor.fillForm();
    await visitor.sendForm();
    const code = page.getByRole('heading', { name: 'Verify Your Email' });
    await expect(code).toBeVisible();
    await expect
      .poll(() => page.evaluate(() => document.querySelector('main')?.contains(document.activeElement)))
      .toBe(true);
    const fades = () => page.evaluate(() => (window as unknown as { fades: number }).fades);
    expect(await fades()).toBe(reducedMotion === 'reduce' ? 0 : 2);
    // The browser's own movements have no fade of ours.
    await page.goBack();
    await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
    await page.goForward();
    await expect(code).toBeVisible();
    expect(await fades()).toBe(reducedMotion === 'reduce' ? 0 : 2);
    // Nor has the article: a visitor who waited for it shall read.
    await visitor.enterCode(await visitor.mailedCode());
    await expect(page.getByRole('article')).toBeVisible();
    expect(await fades()).toBe(reducedMotion === 'reduce' ? 0 : 2);
  });
}

/** The envelope, which lies over the whole page. */
const ENVELOPE = '[aria-hidden]:has(> svg[viewBox="0 0 240 240"])';

for (const reducedMotion of ['no-preference', 'reduce'] as const)
  test(`a right code opens an envelope once, for at most 900 ms, in nobody's way, where motion is ${reducedMotion}`, async ({
    page,
    visitor,
  }) => {
    await page.emulateMedia({ reducedMotion });
    // What the page shows for a moment, as it stood then.
    await page.addInitScript((selector) => {
      const seen: { shown: boolean; ends: number[]; hit: boolean }[] = [];
      Object.assign(window, { envelopes: seen });
      let last: Element | null = null;
      const look = () => {
        const envelope = document.querySelector(selector);
        if (envelope !== null && envelope !== last)
          seen.push({
            shown: getComputedStyle(envelope).display !== 'none',
            ends: envelope
              .getAnimations({ subtree: true })
              .map(({ effect }) => Number(effect?.getComputedTiming().endTime)),
            hit: envelope.contains(document.elementFromPoint(innerWidth / 2, innerHeight / 2)),
          });
        last = envelope;
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, ENVELOPE);
    type Seen = { readonly shown: boolean; readonly ends: readonly number[]; readonly hit: boolean };
    const envelopes = () => page.evaluate(() => (window as unknown as { envelopes: Seen[] }).envelopes);
    await page.goto('/');
    await visitor.readArticle();
    const isStill = reducedMotion === 'reduce';
    await expect.poll(async () => (await envelopes()).length).toBe(1);
    const [seen] = await envelopes();
    expect(seen?.shown).toBe(!isStill);
    expect(seen?.hit).toBe(false);
    expect(seen?.ends.length === 0).toBe(isStill);
    expect(seen?.ends.every((end) => end <= 900)).toBe(true);
    if (isStill) return;
    await expect(page.locator(ENVELOPE)).toHaveCount(0);
    // Coming back to the article opens nothing again.
    await page.goBack();
    await expect(page.getByRole('article')).toHaveCount(0);
    await page.goForward();
    await expect(page.getByRole('article')).toBeVisible();
    expect(await envelopes()).toHaveLength(1);
    await page.reload();
    await expect(page.getByRole('article')).toBeVisible();
    expect(await envelopes()).toHaveLength(0);
  });

test('a press on the button shows at once that it was felt, while the application still loads', async ({
  page,
}) => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/assets/app-*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/');
  const button = page.getByRole('button', { name: 'Get Your Free Copy', exact: true });
  const opacity = () => button.evaluate((element) => getComputedStyle(element).opacity);
  expect(await opacity()).toBe('1');
  // Within the press itself, so no clock is needed.
  const felt = await button.evaluate((element) => {
    (element as HTMLElement).click();
    return `${element.ariaBusy} ${getComputedStyle(element).opacity}`;
  });
  expect(felt).toBe('true 0.65');
  answer();
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  await expect(page.locator('[aria-busy]')).toHaveCount(0);
});

test('a press before the application is there opens the form with no empty frame between, and Back finds the landing page', async ({
  page,
}) => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route('**/assets/app-*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/');
  const button = page.getByRole('button', { name: 'Get Your Free Copy Now' });
  await button.scrollIntoViewIfNeeded();
  await page.evaluate(() => {
    // The press is kept until the application is there; a font that arrives meanwhile moves the button.
    document.addEventListener(
      'click',
      ({ target }) => {
        const top = (target as Element).closest('button')?.getBoundingClientRect().top;
        document.documentElement.dataset['stoodAt'] = String(top);
      },
      true,
    );
    const seen = new Set<string>();
    const look = () => {
      seen.add(document.querySelector('h1')?.innerText ?? 'nothing');
      document.documentElement.dataset['seen'] = [...seen].join(', ');
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await button.click();
  answer();
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  await expect(page).toHaveTitle(/Get Your Free Copy/);
  await expect(page.locator('html')).toHaveAttribute(
    'data-seen',
    'Master AI-Powered Cold Outreach, Get Your Free Copy',
  );
  await page.goBack();
  await expect(button).toBeFocused();
  const stoodAt = Number(await page.locator('html').getAttribute('data-stood-at'));
  // A font that arrives after the focus moves the page, which then goes back to its place.
  await expect.poll(async () => Math.abs(((await button.boundingBox())?.y ?? 0) - stoodAt)).toBeLessThan(2);
  await page.goForward();
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  await page.goBack();
  await expect(
    page.getByRole('heading', { level: 1, name: 'Master AI-Powered Cold Outreach' }),
  ).toBeVisible();
});

test('a press made twice leads one step, and Back leads out of it again', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.openForm();
  await page.goBack();
  const button = page.getByRole('button', { name: 'Get Your Free Copy', exact: true });
  await button.evaluate((element: HTMLButtonElement) => {
    element.click();
    element.click();
  });
  await expect(page.getByLabel('Full Name *')).toBeVisible();
  await page.goBack();
  await expect(button).toBeFocused();
});

test('Back before a fade has begun leads back, and the fade brings nothing again', async ({ page }) => {
  // A browser that is busy begins a fade late.
  await page.addInitScript(() => {
    const plain = document.startViewTransition.bind(document);
    const late = window as unknown as { begin: () => Promise<void> };
    document.startViewTransition = (update) => {
      late.begin = () => plain(update).updateCallbackDone;
      return { ready: Promise.resolve() } as unknown as ViewTransition;
    };
  });
  await page.goto('/');
  const button = page.getByRole('button', { name: 'Get Your Free Copy', exact: true });
  await button.focus();
  await expect(page.getByRole('region', { name: /^Notifications/ })).toBeAttached();
  await button.click();
  await page.waitForFunction(() => (history.state as { stage: string }).stage === 'form');
  await page.goBack();
  await page.evaluate(() => (window as unknown as { begin: () => Promise<void> }).begin());
  await expect(button).toBeVisible();
  expect(await page.evaluate(() => (history.state as { stage: string }).stage)).toBe('landing');
  await button.click();
  await page.evaluate(() => (window as unknown as { begin: () => Promise<void> }).begin());
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
});
