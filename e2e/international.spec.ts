import { expect, test } from './fixtures.ts';

test('a visitor with an e-mail address at an international domain gets the code', async ({
  page,
  visitor,
  site,
}) => {
  const email = 'Info@Münchner-Bücher.example';
  await visitor.startAtForm();
  await visitor.fillForm({ email: ` ${email}` });
  await visitor.sendForm();
  await expect(visitor.codeScreen).toBeVisible();
  await expect(page.getByText(email, { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByText(email, { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(page.getByLabel('Work Email *')).toHaveValue(new RegExp(`^ ?${email}$`));
  expect(site.inbox.recipientCommands).toContain('RCPT TO:<Info@xn--mnchner-bcher-wobi.example>');
});

test('Arabic and Hebrew names run from right to left in their fields', async ({ page, visitor }) => {
  await visitor.startAtForm();
  const directionOf = (label: string) =>
    page.getByLabel(label).evaluate((field) => getComputedStyle(field).direction);
  await page.getByLabel('Full Name *').fill('محمد علي');
  await page.getByLabel('Company Name *').fill('חברה בע"מ (2026)');
  expect(await directionOf('Full Name *')).toBe('rtl');
  expect(await directionOf('Company Name *')).toBe('rtl');
  await page.getByLabel('Full Name *').fill('Ada');
  expect(await directionOf('Full Name *')).toBe('ltr');
});
