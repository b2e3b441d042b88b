import { expect, hold, loadedFonts, resize, test, type Visitor } from './fixtures.ts';

test.use({ machineFace: false });

type Box = {
  readonly words: string;
  readonly top: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
};

const boxes = (visitor: Visitor): Promise<Box[]> =>
  visitor.page.evaluate(() =>
    Array.from(document.querySelectorAll('h1, h2, h3, p, button, blockquote, figcaption'))
      .filter((element) => element.checkVisibility())
      .map((element) => {
        const { top, height, left, right } = element.getBoundingClientRect();
        return {
          words: `${element.tagName} ${element.textContent?.slice(0, 30)}`,
          top: Math.round(top + scrollY),
          height: Math.round(height),
          left: Math.round(left),
          right: Math.round(right),
        };
      }),
  );

for (const width of [375, 1440])
  test(`nothing moves at ${width} px when the text font loads late @late`, async ({ page, visitor }) => {
    await resize(page, { width, height: 900 });
    const asked = page.waitForRequest('**/fonts/hanken-grotesk.woff2');
    const release = await hold(page, '**/fonts/hanken-grotesk.woff2');
    await page.goto('/');
    await asked;
    // The test machines have no serif, so shifts caused by Newsreader are not tested.
    await expect.poll(() => loadedFonts(page)).toContain('Newsreader');
    expect(await loadedFonts(page)).not.toContain('Hanken Grotesk');
    const before = await boxes(visitor);
    await page.evaluate(async () => {
      // Newsreader's own shift is reported one frame after the font has loaded.
      for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
      Object.assign(globalThis, { shift: 0 });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          Object.assign(globalThis, {
            shift: Number(Reflect.get(globalThis, 'shift')) + Number(Reflect.get(entry, 'value')),
          });
      }).observe({ type: 'layout-shift' });
    });
    release();
    await expect.poll(() => loadedFonts(page)).toContain('Hanken Grotesk');
    expect(before.length).toBeGreaterThan(30);
    const after = await boxes(visitor);
    expect(after.map(({ words, top, height }) => ({ words, top, height }))).toEqual(
      before.map(({ words, top, height }) => ({ words, top, height })),
    );
    // Centred text must keep its centre, and aligned text its edge.
    const sideways = after.flatMap(({ words, left, right }, index) => {
      const was = before[index];
      if (was === undefined) return [];
      const moves = [left - was.left, right - was.right, (left + right - was.left - was.right) / 2];
      return Math.min(...moves.map(Math.abs)) < 4 ? [] : [`${words}: ${moves.join(', ')}`];
    });
    expect(sideways).toEqual([]);
    // A button's arrow moves by a pixel. Layout shift up to 0.1 counts as good.
    expect(await page.evaluate(() => Number(Reflect.get(globalThis, 'shift')))).toBeLessThan(0.0001);
  });

test('nothing next to the form moves when the text font loads late @late', async ({ page, visitor }) => {
  await resize(page, { width: 1440, height: 900 });
  const release = await hold(page, '**/fonts/hanken-grotesk.woff2');
  await visitor.startAtForm();
  await expect.poll(() => loadedFonts(page)).toContain('Newsreader');
  const heights = async () =>
    (await boxes(visitor)).map(({ words, top, height }) => ({ words, top, height }));
  const before = await heights();
  release();
  await expect.poll(() => loadedFonts(page)).toContain('Hanken Grotesk');
  expect(await heights()).toEqual(before);
});

test('the page is complete without its fonts', async ({ page, visitor, expectedErrors }) => {
  expectedErrors.push(/net::ERR_FAILED/);
  await page.route('**/fonts/*', (route) => route.abort());
  await page.goto('/');
  await visitor.askForCode();
  expect(await loadedFonts(page)).toEqual(expect.not.arrayContaining(['Newsreader', 'Hanken Grotesk']));
  await expect(visitor.box(1)).toBeVisible();
});
