import AxeBuilder from '@axe-core/playwright';

import { expect, test } from './fixtures.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

// The themes differ by their colours alone.
for (const theme of ['light', 'dark'])
  test(`every stage passes axe in the ${theme} theme`, async ({ page, visitor, expectedComplaints }) => {
    test.slow();
    expectedComplaints.push(/404 \(Not Found\)/);
    const expectNoViolations = async (stage: string) => {
      const axe = new AxeBuilder({ page });
      const rules = theme === 'light' ? axe.withTags(TAGS) : axe.withRules('color-contrast');
      const { violations } = await rules.analyze();
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
      expect(found, stage).toEqual([]);
    };
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto('/');
    await expectNoViolations('landing');
    await visitor.openForm();
    await visitor.sendForm();
    await expectNoViolations('form with errors');
    await visitor.fillForm();
    await visitor.sendForm();
    await expect(visitor.toast).toBeVisible();
    await expectNoViolations('verification with a toast');
    await visitor.enterCode('000000');
    await expect(visitor.toast).toContainText('Verification Failed');
    await expectNoViolations('verification after a refusal');
    await visitor.openArticle();
    await expectNoViolations('content');
    await page.goto('/nowhere');
    await expectNoViolations('404');
  });
