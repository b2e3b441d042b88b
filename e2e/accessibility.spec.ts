import AxeBuilder from '@axe-core/playwright';

import { expect, test, type Visitor } from './fixtures.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** In both themes, which differ by their colours alone. */
async function expectNoViolations({ page }: Visitor, stage: string): Promise<void> {
  const toggle = page.getByRole('button', { name: 'Toggle theme' });
  for (const [theme, axe] of [
    ['light', new AxeBuilder({ page }).withTags(TAGS)],
    ['dark', new AxeBuilder({ page }).withRules(['color-contrast'])],
  ] as const) {
    await expect(page.locator('html')).toHaveClass(theme);
    const { violations } = await axe.analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
    expect(found, `${stage}, ${theme}`).toEqual([]);
    // Pressed without moving the focus.
    await toggle.evaluate((button: HTMLButtonElement) => button.click());
  }
}

test('every stage passes axe in both themes', async ({ page, visitor, expectedComplaints }) => {
  test.slow();
  expectedComplaints.push(/404 \(Not Found\)/);
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
  await visitor.openArticle();
  await expectNoViolations(visitor, 'content');
  await page.goto('/nowhere');
  await expectNoViolations(visitor, '404');
});
