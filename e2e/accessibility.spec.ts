import AxeBuilder from '@axe-core/playwright';

import { expect, test, type Visitor } from './fixtures.ts';

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
