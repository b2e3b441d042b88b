import { expect, test, type Visitor } from './fixtures.ts';

const styleOf = (visitor: Visitor, selector: string, property: string) =>
  visitor.page
    .locator(selector)
    .first()
    .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

test('only the article is printed, dark on white, in either theme', async ({ page, visitor }) => {
  await visitor.startAtCode();
  await visitor.openArticle();
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ media: 'screen' });
    if (theme === 'dark') await page.getByRole('button', { name: 'Toggle theme' }).click();
    await expect(page.locator('html')).toHaveClass(theme);
    await page.emulateMedia({ media: 'print' });
    await expect(page.getByRole('banner')).toBeHidden();
    await expect(visitor.toast).toBeHidden();
    await expect(visitor.article).toBeVisible();
    await expect(page.locator('body')).toHaveCSS('background-color', 'rgb(255, 255, 255)');
    await expect(visitor.article).toHaveCSS('color', 'rgb(0, 0, 0)');
    await expect(visitor.article.locator('.language-letter')).toHaveCSS('filter', 'none');
    await expect(page.getByRole('main')).toHaveCSS('padding-top', '0px');
  }
});

test('forced colours and more contrast keep controls and text visible', async ({ page, visitor }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto('/');
  const expectOutlined = async (what: string) => {
    expect(await styleOf(visitor, what, 'border-top-style'), what).not.toBe('none');
    expect(Number.parseFloat(await styleOf(visitor, what, 'border-top-width')), what).toBeGreaterThan(0);
  };
  await expectOutlined('button[name=hero]');
  await visitor.openForm();
  await page.emulateMedia({ forcedColors: 'none', contrast: 'more' });
  const ink = await styleOf(visitor, 'body', 'color');
  await expect(page.locator('main p:has(+ form)')).toHaveCSS('color', ink);
  await expect(page.locator('main input').first()).toHaveCSS('border-top-color', ink);

  await page.emulateMedia({ forcedColors: 'active', contrast: null });
  await visitor.sendValidForm();
  await expectOutlined('main [role=group] input');
  const ground = await styleOf(visitor, 'body', 'background-color');
  await expect(page.locator('header svg').first()).not.toHaveCSS('color', ground);
  const usual = await styleOf(visitor, 'main [role=group] input', 'border-top-style');
  await visitor.enterCode('000000');
  await expect(visitor.box(1)).toHaveAttribute('aria-invalid', 'true');
  await expect(visitor.box(1)).not.toHaveCSS('border-top-style', usual);
  await visitor.openArticle();
  await expect(page.locator('[role=progressbar] > div')).not.toHaveCSS('background-color', ground);
});
