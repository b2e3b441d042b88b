import type { Locator, Page } from '@playwright/test';

import { boxOf, expect, inEveryFont, nextFrame, openWithFonts, overflow, resize, test } from './fixtures.ts';

const WIDTHS = [600, 700, 767, 768, 820, 900, 960, 1000, 1024, 1100];
/**
 * Font size in pixels, and the smallest allowed column width in ch. A page of 600 px with a font size of 32 px is like one of
 * 300 px, a small phone.
 */
const LETTERS = [
  [16, 22],
  [32, 15],
] as const;

async function setLetters(page: Page, pixels: number): Promise<void> {
  await page.evaluate((size) => {
    document.documentElement.style.fontSize = `${size}px`;
  }, pixels);
  await nextFrame(page);
}

const narrowColumns = (page: Page, least: number) =>
  page.evaluate((minCh) => {
    const ruler = document.createElement('span');
    ruler.textContent = '0000000000';
    ruler.style.position = 'absolute';
    return Array.from(document.querySelectorAll<HTMLElement>('main p, main blockquote, main h1, main h2'))
      .filter((element) => element.checkVisibility() && (element.textContent ?? '').length > 60)
      .flatMap((element) => {
        element.append(ruler);
        const column = element.clientWidth / (ruler.getBoundingClientRect().width / 10);
        ruler.remove();
        return column < minCh ? [`${column.toFixed(0)} ch: ${element.textContent?.slice(0, 40)}`] : [];
      });
  }, least);

const aloneInLastRow = (page: Page) =>
  page.evaluate(() =>
    Array.from(document.querySelectorAll('main ul, main ol')).flatMap((list) => {
      const rows = Map.groupBy(Array.from(list.children), (card) =>
        Math.round(card.getBoundingClientRect().top),
      );
      const counts = Array.from(rows.values(), (cards) => cards.length);
      return Math.max(...counts) > 1 && counts.at(-1) === 1
        ? [`${counts.join('+')}: ${list.textContent?.slice(0, 40)}`]
        : [];
    }),
  );

test('no column is squeezed at medium widths or with large text', async ({ page }) => {
  test.slow();
  await openWithFonts(page);
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await resize(page, { width, height: 900 });
    for (const [letters, minCh] of LETTERS) {
      await setLetters(page, letters);
      await inEveryFont(page, async (font) => {
        const found = [
          ...(await narrowColumns(page, minCh)),
          ...(await aloneInLastRow(page)),
          ...((await overflow(page)) > 0 ? ['scrolls sideways'] : []),
        ];
        faults.push(...found.map((fault) => `${width} px, letters of ${letters} px, ${font}: ${fault}`));
      });
    }
  }
  expect(faults).toEqual([]);
});

/** Applies the text spacing of WCAG 1.4.12. */
const spaceText = (page: Page) =>
  page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      '*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}',
    );
    document.adoptedStyleSheets.push(sheet);
    const cut = Array.from(document.querySelectorAll('h1,h2,h3,p,li,label,button'))
      .filter(
        (element) =>
          getComputedStyle(element).overflow === 'hidden' && element.scrollHeight > element.clientHeight + 1,
      )
      .map((element) => element.outerHTML.slice(0, 80))
      .filter((html) => !html.includes('aria-live'));
    const { scrollWidth, clientWidth } = document.documentElement;
    document.adoptedStyleSheets.pop();
    return { cut, sideways: scrollWidth - clientWidth };
  });

/** The number of lines over which a word of a text is broken. */
const linesOf = (element: Locator, word: string) =>
  element.evaluate((parent, part) => {
    const text = document.createTreeWalker(parent, NodeFilter.SHOW_TEXT).nextNode() as Text;
    const range = document.createRange();
    range.setStart(text, text.data.indexOf(part));
    range.setEnd(text, text.data.indexOf(part) + part.length);
    return range.getClientRects().length;
  }, word);

const smallTargets = (page: Page) =>
  page.evaluate(() =>
    Array.from(document.querySelectorAll('button, input, a'))
      .filter((element) => element.checkVisibility() && !element.closest('[aria-hidden=true], p'))
      .map((element) => ({ box: element.getBoundingClientRect(), html: element.outerHTML.slice(0, 80) }))
      .filter(({ box }) => box.width < 24 || box.height < 24)
      .map(({ html }) => html),
  );

test('every stage fits a narrow screen, wide spacing and enlarged text', async ({ page, visitor }) => {
  test.slow();
  const look = async (stage: string, lookAtLargeLetters?: (font: string) => Promise<void>) => {
    // Equivalent to 400 % zoom on a desktop.
    await resize(page, { width: 320, height: 640 });
    await inEveryFont(page, async (font) => {
      expect(await overflow(page), `${stage} at 320 px, ${font}`).toBe(0);
    });
    await resize(page, { width: 375, height: 667 });
    await inEveryFont(page, async (font) => {
      expect(await spaceText(page), `${stage}, spaced, ${font}`).toEqual({ cut: [], sideways: 0 });
      expect(await smallTargets(page), `${stage}, targets, ${font}`).toEqual([]);
    });
    for (const percent of [150, 200]) {
      await setLetters(page, (16 * percent) / 100);
      await inEveryFont(page, async (font) => {
        expect(await overflow(page), `${stage} with letters of ${percent} %, ${font}`).toBe(0);
        await lookAtLargeLetters?.(font);
      });
    }
    await setLetters(page, 16);
  };
  await resize(page, { width: 375, height: 667 });
  await openWithFonts(page);
  await look('landing', async (font) => {
    const button = page.getByRole('button', { name: 'Play video' });
    const [mark, picture] = [await boxOf(button.locator('span').last()), await boxOf(button)];
    expect(mark.y + mark.height, font).toBeLessThanOrEqual(picture.y + picture.height);
  });
  await visitor.openForm();
  await visitor.sendForm();
  await look('form');
  await visitor.sendValidForm();
  await look('code screen', async (font) => {
    const [first, last] = [await boxOf(visitor.box(1)), await boxOf(visitor.box(6))];
    expect(first.x, font).toBeGreaterThan(0);
    expect(last.x + last.width, font).toBeLessThan(375);
  });
  await visitor.openArticle();
  await look('article', async (font) => {
    expect(await linesOf(page.getByText(/^5 Core Knowledge Bases/), 'Knowledge'), font).toBe(1);
  });
});

/** Puts a word and a phrase that are wider than a phone before each text of the stage. */
async function lengthenTexts(page: Page): Promise<void> {
  await page.evaluate(() => {
    const walker = document.createTreeWalker(document.querySelector('main')!, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode as Text;
      if (text.data.length > 8 && !text.parentElement?.closest('button, noscript'))
        text.data = `Kundenbeziehungsmanagement-Systeme in all of our markets together ${text.data}`;
    }
  });
}

for (const stage of ['landing page', 'article'] as const)
  test(`overlong words and phrases break in every text of the ${stage}`, async ({ page, visitor }) => {
    await (stage === 'article' ? visitor.startAtArticle() : openWithFonts(page));
    await lengthenTexts(page);
    for (const width of [320, 768, 1280]) {
      await resize(page, { width, height: 800 });
      expect(await overflow(page), `${width} px`).toBe(0);
    }
  });

/** Turns the page from right to left. Returns an element's distances from the start and the end of its parent. */
async function insetsFromRight(element: Locator): Promise<{ start: number; end: number }> {
  await element.evaluate(() => (document.documentElement.dir = 'rtl'));
  await nextFrame(element.page());
  return element.evaluate((part) => {
    const inner = part.getBoundingClientRect();
    const outer = part.parentElement!.getBoundingClientRect();
    return { start: outer.right - inner.right, end: inner.left - outer.left };
  });
}

test('bars of figures and the reply to the letter are mirrored on a right-to-left page', async ({ page }) => {
  await openWithFonts(page);
  const bar = await insetsFromRight(page.locator('dl svg rect').first());
  expect(bar.start).toBeLessThan(1);
  expect(bar.end).toBeGreaterThan(50);
  const reply = await insetsFromRight(page.getByText('Yes, please send it.'));
  expect(reply.end).toBeLessThan(40);
  expect(reply.start).toBeGreaterThan(100);
});

test('the button that copies a prompt is at the left edge of a right-to-left page', async ({ visitor }) => {
  await visitor.startAtArticle();
  const { end } = await insetsFromRight(visitor.article.locator('figcaption button').first());
  expect(end).toBeLessThan(12);
});

test("a company's logo is next to or below the lines with a person's name and role", async ({ page }) => {
  await openWithFonts(page);
  const person = page.locator('figcaption').filter({ hasText: 'Sarah Lindqvist' });
  await person.evaluate((caption) => {
    const logo = new Image(143, 24);
    logo.alt = '';
    caption.append(logo);
  });
  for (const width of [320, 768, 1280]) {
    await resize(page, { width, height: 800 });
    const [name, role] = [await boxOf(person.locator('strong')), await boxOf(person.getByText(/^Head of/))];
    expect(role.y, `${width} px`).toBeGreaterThanOrEqual(name.y + name.height);
    expect(role.width, `${width} px`).toBeGreaterThan(100);
    expect(await overflow(page), `${width} px`).toBe(0);
  }
});

test('a long word in the heading of a page linked from mail breaks', async ({ page }) => {
  await resize(page, { width: 375, height: 667 });
  await page.goto('/api/unsubscribe');
  await page.locator('h1').evaluate((h1) => (h1.innerHTML = '<span>E-Mail-Benachrichtigungen</span>'));
  expect(await overflow(page)).toBe(0);
});
