// What a visitor's system, browser or printer asks for, and what the page says about itself to them.
import { expect, test, type Visitor } from './fixtures.ts';

const styleOf = (visitor: Visitor, selector: string, property: string) =>
  visitor.page
    .locator(selector)
    .first()
    .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

for (const theme of ['light', 'dark']) {
  test(`the article is printed as dark ink on white, with nothing around it, from the ${theme} theme`, async ({
    page,
    visitor,
  }) => {
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme);
    await page.goto('/');
    await visitor.readArticle();
    await page.emulateMedia({ media: 'print' });
    await expect(page.getByRole('banner')).toBeHidden();
    await expect(visitor.toast).toBeHidden();
    expect(await styleOf(visitor, 'body', 'background-color')).toBe('rgb(255, 255, 255)');
    expect(await styleOf(visitor, 'article', 'color')).toBe('rgb(0, 0, 0)');
    await expect(page.getByRole('article')).toBeVisible();
    expect(await styleOf(visitor, 'main', 'padding-top')).toBe('0px');
  });
}

test('in forced colours the progress bar, the refused boxes and the logo are seen', async ({
  page,
  visitor,
}) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/');
  await visitor.askForCode();
  expect(await styleOf(visitor, 'header svg', 'color')).not.toBe(
    await styleOf(visitor, 'body', 'background-color'),
  );
  const usual = await visitor.box(1).evaluate((box) => getComputedStyle(box).borderTopStyle);
  await visitor.enterCode('000000');
  await expect(visitor.box(1)).toHaveAttribute('aria-invalid', 'true');
  expect(await visitor.box(1).evaluate((box) => getComputedStyle(box).borderTopStyle)).not.toBe(usual);
  await visitor.enterCode(await visitor.mailedCode());
  await expect(page.getByRole('article')).toBeVisible();
  expect(await styleOf(visitor, '[role=progressbar] > div', 'background-color')).not.toBe(
    await styleOf(visitor, 'body', 'background-color'),
  );
});

test('with more contrast asked for, quiet words and borders take the ink', async ({ page, visitor }) => {
  await page.emulateMedia({ contrast: 'more' });
  await page.goto('/');
  await visitor.openForm();
  const ink = await styleOf(visitor, 'body', 'color');
  expect(await styleOf(visitor, 'main p:has(+ form)', 'color')).toBe(ink);
  expect(await styleOf(visitor, 'main input', 'border-top-color')).toBe(ink);
});

test('with less motion asked for, the form is scrolled to at once', async ({ page, visitor }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.addInitScript(() => {
    const original = Reflect.get(Element.prototype, 'scrollIntoView');
    Element.prototype.scrollIntoView = function scrollAndTell(this: Element, options) {
      document.documentElement.dataset['scrolled'] = typeof options === 'object' ? options.behavior : 'auto';
      original.call(this, options);
    };
  });
  await page.goto('/');
  await visitor.openForm();
  await expect(page.locator('html')).toHaveAttribute('data-scrolled', 'instant');
});

test('the header lets nothing shine through', async ({ page, visitor }) => {
  await page.goto('/');
  expect(await styleOf(visitor, 'header', 'background-color')).toBe(
    await styleOf(visitor, 'body', 'background-color'),
  );
});

test("the browser's own frame takes the theme's colour, in the first frame and after the toggle", async ({
  page,
}) => {
  await page.goto('/');
  const frame = page.locator('meta[name=theme-color]');
  await expect(frame).toHaveAttribute('content', '#faf7f0');
  await page.getByRole('button', { name: 'Toggle theme' }).click();
  await expect(frame).toHaveAttribute('content', '#12130f');
  await page.reload();
  await expect(frame).toHaveAttribute('content', '#12130f');
});

test('telephones get the right keyboard for each field, and the page reaches under the edges', async ({
  page,
  visitor,
}) => {
  await page.goto('/');
  await expect(page.locator('meta[name=viewport]')).toHaveAttribute('content', /viewport-fit=cover/);
  await visitor.openForm();
  const hints = [
    ['Full Name *', 'words', 'next'],
    ['Company Name *', 'words', 'next'],
    ['Work Email *', 'none', 'send'],
  ] as const;
  for (const [label, capitals, key] of hints) {
    await expect(page.getByLabel(label)).toHaveAttribute('autocapitalize', capitals);
    await expect(page.getByLabel(label)).toHaveAttribute('enterkeyhint', key);
  }
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(visitor.box(1)).toHaveAttribute('enterkeyhint', 'next');
  await expect(visitor.box(6)).toHaveAttribute('enterkeyhint', 'done');
});

test('each stage has its own title, also after a reload and on the way back', async ({ page, visitor }) => {
  await page.goto('/');
  const landing = await page.title();
  await visitor.openForm();
  await expect(page).toHaveTitle(/^Get Your Free Copy · /);
  await page.reload();
  await expect(page).toHaveTitle(/^Get Your Free Copy · /);
  await page.goBack();
  await expect(page).toHaveTitle(landing);
  await visitor.askForCode();
  await expect(page).toHaveTitle(/^Verify Your Email · /);
  await visitor.enterCode(await visitor.mailedCode());
  await expect(page).toHaveTitle(/^Your Guide · /);
});
