import { expect, requestsTo, test } from './fixtures.ts';

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

test('the form refuses an invalid international e-mail address and suggests a correction', async ({
  page,
  visitor,
}) => {
  const called = requestsTo(page, '/api/leads');
  await visitor.startAtForm();
  for (const email of [
    'jürgen@münchen.de',
    'info@mün chen.de',
    'info@münchen',
    `info@${'ü'.repeat(63)}.de`,
  ]) {
    await visitor.fillForm({ email });
    await visitor.sendForm();
    await expect(page.getByLabel('Work Email *')).toHaveAccessibleDescription(
      'Please enter a valid email address',
    );
    await expect(page.getByLabel('Work Email *')).toBeFocused();
  }
  await visitor.fillForm({ email: 'info@münchen.con' });
  await page.getByLabel('Full Name *').focus();
  await page.getByRole('button', { name: 'Did you mean info@münchen.com?' }).click();
  await expect(page.getByLabel('Work Email *')).toHaveValue('info@münchen.com');
  expect(called).toEqual([]);
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
