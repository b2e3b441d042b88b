import { expect, hold, openStarted, test } from './fixtures.ts';

test.use({ reducedMotion: 'no-preference' });

const ENVELOPE = '[aria-hidden]:has(> svg[viewBox="0 0 240 240"])';

for (const reducedMotion of ['no-preference', 'reduce'] as const)
  test(`stages and envelope follow the motion preference "${reducedMotion}"`, async ({ page, visitor }) => {
    const isStill = reducedMotion === 'reduce';
    await page.emulateMedia({ reducedMotion });
    type Seen = { fades: number; envelopes: { shown: boolean; ends: number[]; hit: boolean }[] };
    await page.addInitScript((selector) => {
      const plain = document.startViewTransition.bind(document);
      const seen: Seen = { fades: 0, envelopes: [] };
      Object.assign(window, { seen });
      document.startViewTransition = (...options) => {
        seen.fades += 1;
        return plain(...options);
      };
      let last: Element | null = null;
      const look = () => {
        const envelope = document.querySelector(selector);
        if (envelope !== null && envelope !== last)
          seen.envelopes.push({
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
    const seen = () => page.evaluate(() => (window as unknown as { seen: Seen }).seen);

    // A replayed press does not fade, so the application is started first.
    await openStarted(page);
    await visitor.openForm();
    await expect(visitor.form).toBeFocused();
    await visitor.sendValidForm();
    await expect(visitor.box(1)).toBeFocused();
    expect((await seen()).fades).toBe(isStill ? 0 : 2);
    const longest = await page.evaluate(() =>
      Math.max(
        ...Array.from(document.querySelectorAll('*'), (element) => {
          const { animationDuration, transitionDuration } = getComputedStyle(element);
          return Math.max(Number.parseFloat(animationDuration), Number.parseFloat(transitionDuration));
        }),
      ),
    );
    expect(longest < 0.001).toBe(isStill);
    await page.goBack();
    await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
    await page.goForward();
    await expect(visitor.codeScreen).toBeVisible();
    await visitor.openArticle();
    expect((await seen()).fades).toBe(isStill ? 0 : 2);

    await expect.poll(async () => (await seen()).envelopes.length).toBe(1);
    const [envelope] = (await seen()).envelopes;
    expect(envelope?.shown).toBe(!isStill);
    expect(envelope?.hit).toBe(false);
    expect(envelope?.ends.length === 0).toBe(isStill);
    expect(envelope?.ends.every((end) => end <= 900)).toBe(true);
    if (isStill) return;
    await expect(page.locator(ENVELOPE)).toHaveCount(0);
    await page.goBack();
    await expect(visitor.article).toHaveCount(0);
    await page.goForward();
    await expect(visitor.article).toBeVisible();
    expect((await seen()).envelopes).toHaveLength(1);
    await page.reload();
    await expect(visitor.article).toBeVisible();
    expect((await seen()).envelopes).toHaveLength(0);
  });

test('a press before the application has loaded still opens the form', async ({ page, visitor }) => {
  const release = await hold(page, '**/assets/app-*');
  await page.goto('/');
  const button = page.getByRole('button', { name: 'Get Your Free Copy Now' });
  await button.scrollIntoViewIfNeeded();
  await page.evaluate(() => {
    // If a font loads before the application, it moves the pressed button.
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
  await expect(button).toHaveCSS('opacity', '1');
  await button.click();
  await expect(button).toHaveAttribute('aria-busy', 'true');
  await expect(button).toHaveCSS('opacity', '0.65');
  release();
  await expect(visitor.form).toBeFocused();
  await expect(page.locator('[aria-busy]')).toHaveCount(0);
  await expect(page).toHaveTitle(/Get Your Free Copy/);
  await expect(page.locator('html')).toHaveAttribute(
    'data-seen',
    'Master AI-Powered Cold Outreach, Get Your Free Copy',
  );
  await page.goBack();
  await expect(button).toBeFocused();
  const stoodAt = Number(await page.locator('html').getAttribute('data-stood-at'));
  // A font that loads after the focus moves the page, which then restores its position.
  await expect.poll(async () => Math.abs(((await button.boundingBox())?.y ?? 0) - stoodAt)).toBeLessThan(2);
  await page.goForward();
  await expect(visitor.form).toBeFocused();
  await page.goBack();
  await expect(visitor.landing).toBeVisible();
  await button.evaluate((element: HTMLButtonElement) => {
    element.click();
    element.click();
  });
  await expect(visitor.form).toBeVisible();
  await page.goBack();
  await expect(button).toBeFocused();
});

test('pressing Back before a fade has begun keeps the previous stage', async ({ page, visitor }) => {
  await page.addInitScript(() => {
    const plain = document.startViewTransition.bind(document);
    const late = window as unknown as { begin: () => Promise<void> };
    document.startViewTransition = (update) => {
      late.begin = () => plain(update).updateCallbackDone;
      return { ready: Promise.resolve() } as unknown as ViewTransition;
    };
  });
  await openStarted(page);
  const button = page.getByRole('button', { name: 'Get Your Free Copy', exact: true });
  await button.click();
  await page.waitForFunction(() => (history.state as { stage: string }).stage === 'form');
  await page.goBack();
  await page.evaluate(() => (window as unknown as { begin: () => Promise<void> }).begin());
  await expect(button).toBeVisible();
  expect(await page.evaluate(() => (history.state as { stage: string }).stage)).toBe('landing');
  await button.click();
  await page.evaluate(() => (window as unknown as { begin: () => Promise<void> }).begin());
  await expect(visitor.form).toBeFocused();
});
