import { expect, test } from './fixtures.ts';

test('an Arabic name and an international e-mail domain are accepted', async ({ page, visitor, site }) => {
  const email = 'Info@Münchner-Bücher.example';
  await visitor.startAtFilledForm({ email: ` ${email}` });
  const directionOf = (label: string) =>
    page.getByLabel(label).evaluate((field) => getComputedStyle(field).direction);
  expect(await directionOf('Full Name *')).toBe('ltr');
  await page.getByLabel('Full Name *').fill('محمد علي');
  await page.getByLabel('Company Name *').fill('חברה בע"מ (2026)');
  expect(await directionOf('Full Name *')).toBe('rtl');
  expect(await directionOf('Company Name *')).toBe('rtl');
  await page.evaluate(() => (document.documentElement.dir = 'rtl'));
  // From right to left, "ada@" would appear as "@ada".
  await expect(page.getByLabel('Work Email *')).toHaveCSS('direction', 'ltr');
  await visitor.sendFilledForm();
  await expect(page.getByText(email, { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByText(email, { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(page.getByLabel('Work Email *')).toHaveValue(new RegExp(`^ ?${email}$`));
  expect(site.inbox.recipientCommands).toContain('RCPT TO:<Info@xn--mnchner-bcher-wobi.example>');
});
