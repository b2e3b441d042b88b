import AxeBuilder from '@axe-core/playwright';

import { expect, openWithFonts, test, type Visitor } from './fixtures.ts';

async function expectNoViolations(visitor: Visitor, stage: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page: visitor.page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  expect(found, stage).toEqual([]);
}

for (const theme of ['light', 'dark']) {
  test(`every stage passes axe in the ${theme} theme`, async ({ page, visitor, expectedComplaints }) => {
    test.slow();
    expectedComplaints.push(/404 \(Not Found\)/);
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto('/');
    await expectNoViolations(visitor, 'landing');
    await visitor.openForm();
    await expectNoViolations(visitor, 'form');
    await visitor.sendForm();
    await expectNoViolations(visitor, 'form with errors');
    await visitor.fillForm();
    await visitor.sendForm();
    await expect(visitor.toast).toBeVisible();
    await expectNoViolations(visitor, 'verification with a toast');
    await visitor.enterCode('000000');
    await expect(visitor.toast).toContainText('Verification Failed');
    await expectNoViolations(visitor, 'verification after a refusal');
    await visitor.enterCode(await visitor.mailedCode());
    await expect(page.getByRole('article')).toBeVisible();
    await expectNoViolations(visitor, 'content');
    await page.goto('/nowhere');
    await expectNoViolations(visitor, '404');
  });
}

/** How far the page can be scrolled sideways. */
const overflow = (visitor: Visitor) =>
  visitor.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const STAGES = ['landing', 'form', 'verification', 'content'] as const;

/** Walks to each stage in turn. */
async function atEachStage(visitor: Visitor, look: (stage: string) => Promise<void>): Promise<void> {
  const [landing, form, verification, content] = STAGES;
  await look(landing);
  await visitor.openForm();
  await visitor.sendForm();
  await look(form);
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(visitor.page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  await look(verification);
  await visitor.enterCode(await visitor.mailedCode());
  await expect(visitor.page.getByRole('article')).toBeVisible();
  await look(content);
}

test('nothing scrolls sideways at 320 px, which is also 400 % zoom on a desktop @layout', async ({
  page,
  visitor,
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await openWithFonts(page);
  await atEachStage(visitor, async (stage) => {
    expect(await overflow(visitor), stage).toBe(0);
  });
});

test('text can be spaced as WCAG 1.4.12 wants without anything being cut off @layout', async ({
  page,
  visitor,
}) => {
  await page.setViewportSize({ width: 375, height: 800 });
  await openWithFonts(page);
  await atEachStage(visitor, async (stage) => {
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(
        '*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}',
      );
      document.adoptedStyleSheets.push(sheet);
    });
    expect(await overflow(visitor), stage).toBe(0);
    const cut = await page.evaluate(() =>
      Array.from(document.querySelectorAll('h1,h2,h3,p,li,label,button'))
        .filter(
          (element) =>
            getComputedStyle(element).overflow === 'hidden' &&
            element.scrollHeight > element.clientHeight + 1,
        )
        .map((element) => element.outerHTML.slice(0, 80))
        .filter((html) => !html.includes('aria-live')),
    );
    expect(cut, stage).toEqual([]);
    await page.evaluate(() => {
      document.adoptedStyleSheets.pop();
    });
  });
});

test('everything that can be pressed is at least 24 px large @layout', async ({ page, visitor }) => {
  await page.setViewportSize({ width: 375, height: 800 });
  await openWithFonts(page);
  await atEachStage(visitor, async (stage) => {
    const small = await page.evaluate(() =>
      Array.from(document.querySelectorAll('button, input, a'))
        .filter((element) => element.checkVisibility() && !element.closest('[aria-hidden=true], p'))
        .map((element) => ({ box: element.getBoundingClientRect(), html: element.outerHTML.slice(0, 80) }))
        .filter(({ box }) => box.width < 24 || box.height < 24)
        .map(({ html }) => html),
    );
    expect(small, stage).toEqual([]);
  });
});

test('in forced colours the buttons and boxes keep their outlines', async ({ page, visitor }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/');
  const outlined = (element: Element) => {
    const { borderTopStyle, borderTopWidth } = getComputedStyle(element);
    return borderTopStyle !== 'none' && Number.parseFloat(borderTopWidth) > 0;
  };
  const action = page.getByRole('button', { name: 'Get Your Free Copy', exact: true });
  expect(await action.evaluate(outlined)).toBe(true);
  await visitor.askForCode();
  expect(await visitor.box(1).evaluate(outlined)).toBe(true);
});

test('those who want less motion get none', async ({ page, visitor }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  await visitor.openForm();
  const longest = await page.evaluate(() =>
    Math.max(
      ...Array.from(document.querySelectorAll('*'), (element) => {
        const { animationDuration, transitionDuration } = getComputedStyle(element);
        return Math.max(Number.parseFloat(animationDuration), Number.parseFloat(transitionDuration));
      }),
    ),
  );
  expect(longest).toBeLessThan(0.001);
});

test('the film has captions that are shown by themselves', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Play video' }).click();
  const track = page.locator('video track');
  await expect(track).toHaveAttribute('kind', 'captions');
  await expect
    .poll(() =>
      page.locator('video').evaluate((video: HTMLVideoElement) => video.textTracks[0]?.cues?.length ?? 0),
    )
    .toBeGreaterThan(8);
  expect(await page.locator('video').evaluate((video: HTMLVideoElement) => video.textTracks[0]?.mode)).toBe(
    'showing',
  );
});
