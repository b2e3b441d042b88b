// Between the telephone and the desktop, and with letters twice as large: nothing is squeezed, nothing stands alone.
import { boxOf, expect, openWithFonts, test, type Visitor } from './fixtures.ts';

const WIDTHS = [600, 700, 767, 768, 820, 900, 960, 1000, 1024, 1100];
/**
 * The size of a letter that a browser starts from, in pixels: the usual one, and twice as much; and the narrowest column
 * of words. With letters twice as large, 600 px are what 300 px are otherwise: a small telephone.
 */
const LETTERS = [
  [16, 22],
  [32, 15],
] as const;

/** Sets a browser's own size of letters, as its settings would: media queries in rem and em follow it in a browser, not here. */
const setLetters = (visitor: Visitor, pixels: number) =>
  visitor.page.evaluate((size) => {
    document.documentElement.style.fontSize = `${size}px`;
  }, pixels);

/** How far the page can be scrolled sideways. */
const overflow = (visitor: Visitor) =>
  visitor.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** The narrowest columns of running text, in widths of the letter "0". */
const narrowColumns = (visitor: Visitor, least: number) =>
  visitor.page.evaluate((leastCh) => {
    const ruler = document.createElement('span');
    ruler.textContent = '0000000000';
    ruler.style.position = 'absolute';
    return Array.from(document.querySelectorAll<HTMLElement>('main p, main blockquote, main h1, main h2'))
      .filter((element) => element.checkVisibility() && (element.textContent ?? '').length > 60)
      .flatMap((element) => {
        element.append(ruler);
        const column = element.clientWidth / (ruler.getBoundingClientRect().width / 10);
        ruler.remove();
        return column < leastCh ? [`${column.toFixed(0)} ch: ${element.textContent?.slice(0, 40)}`] : [];
      });
  }, least);

/** The lists of cards whose last row holds one card alone, where the others hold more. */
const aloneInLastRow = (visitor: Visitor) =>
  visitor.page.evaluate(() =>
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

for (const [letters, leastCh] of LETTERS) {
  test(`from 600 to 1100 px nothing is squeezed, with letters of ${letters} px @layout`, async ({
    page,
    visitor,
  }) => {
    test.slow();
    await openWithFonts(page);
    const faults: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await setLetters(visitor, letters);
      const found = [
        ...(await narrowColumns(visitor, leastCh)),
        ...(await aloneInLastRow(visitor)),
        ...((await overflow(visitor)) > 0 ? ['scrolls sideways'] : []),
      ];
      faults.push(...found.map((fault) => `${width} px: ${fault}`));
    }
    expect(faults).toEqual([]);
  });
}

for (const width of [320, 375, 768])
  test(`at ${width} px the full stop stays with the address on the code screen, however long it is @layout`, async ({
    page,
    visitor,
  }) => {
    await page.setViewportSize({ width, height: 800 });
    await openWithFonts(page);
    await visitor.askForCode();
    // Every length up to three lines: one of them fills a line to its end.
    const alone = await page.evaluate(() => {
      const sentence = document.getElementById('verification-intro');
      const address = sentence?.querySelector('strong')?.firstChild;
      if (!sentence || !(address instanceof Text)) return ['The sentence has no address.'];
      const lineOf = (text: Text, at: number): number => {
        const letter = document.createRange();
        letter.setStart(text, at);
        letter.setEnd(text, at + 1);
        return Math.round(letter.getBoundingClientRect().bottom);
      };
      const found: string[] = [];
      for (let letters = 1; letters <= 120; letters += 1) {
        // No sign in it after which a line may end.
        address.data = `${'abcdefghij'.repeat(12).slice(0, letters)}@example.com`;
        const texts: Text[] = [];
        const walker = document.createTreeWalker(sentence, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) if (walker.currentNode instanceof Text) texts.push(walker.currentNode);
        const stop = texts.at(-1);
        if (stop?.data !== '.') return [`The sentence ends with "${stop?.data}".`];
        const lines = [lineOf(address, address.length - 1), lineOf(stop, 0)];
        if (lines[0] !== lines[1]) found.push(`${address.data}: ${lines.join(' and ')}`);
      }
      return found;
    });
    expect(alone).toEqual([]);
    expect(await overflow(visitor)).toBe(0);
  });

for (const percent of [150, 200])
  test(`at 375 px with letters of ${percent} % form, code screen and article need no sideways scrolling @layout`, async ({
    page,
    visitor,
  }) => {
    await page.setViewportSize({ width: 375, height: 667 });
    await openWithFonts(page);
    await setLetters(visitor, (16 * percent) / 100);
    await visitor.openForm();
    expect(await overflow(visitor)).toBe(0);
    await visitor.fillForm();
    await visitor.sendForm();
    await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
    expect(await overflow(visitor)).toBe(0);
    for (const number of [1, 6]) {
      const { x, width } = await boxOf(visitor.box(number));
      expect(x).toBeGreaterThan(0);
      expect(x + width).toBeLessThan(375);
    }
    await visitor.enterCode(await visitor.mailedCode());
    await expect(page.getByRole('article')).toBeVisible();
    expect(await overflow(visitor)).toBe(0);
    expect(await page.evaluate(() => scrollX)).toBe(0);
  });
