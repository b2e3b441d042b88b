import { expectNoViolations } from './axe.ts';
import { expect, test } from './fixtures.ts';

test('every stage passes axe in both themes', async ({ page, visitor, expectedErrors }) => {
  test.slow();
  expectedErrors.push(/404 \(Not Found\)/);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  await expectNoViolations(page, 'landing');
  await visitor.openForm();
  await visitor.sendForm();
  await expectNoViolations(page, 'form with errors');
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(visitor.toast).toBeVisible();
  await expectNoViolations(page, 'verification with a toast');
  await visitor.enterCode('000000');
  await expect(visitor.toast).toContainText('Verification Failed');
  await expectNoViolations(page, 'verification after a refusal');
  await visitor.openArticle();
  await expectNoViolations(page, 'content');
  await page.goto('/nowhere');
  await expectNoViolations(page, '404');
});
