import { HONEYPOT_FIELD, Lead } from '#shared/lead.ts';

import { expect, stopClock, test } from './fixtures.ts';

test('the form has the fields, defaults and labels of the specification', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.openForm();
  for (const label of ['Full Name *', 'Company Name *', 'Work Email *'])
    await expect(page.getByLabel(label, { exact: true })).toHaveValue('');
  const consent = page.getByLabel(
    'I agree to receive emails about this guide and related marketing insights. You can unsubscribe anytime.',
    { exact: true },
  );
  await expect(consent).not.toBeChecked();
  const names = await page
    .locator(`form [name]:not([name=${HONEYPOT_FIELD}])`)
    .evaluateAll((fields) => fields.map((field) => field.getAttribute('name')));
  expect(names, 'a box for each field that is sent, in the order of the schema').toEqual(
    Object.keys(Lead.shape),
  );
});

test('complaints come with the first attempt, are tied to their fields, and go when mended', async ({
  page,
  visitor,
}) => {
  const called: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/api/leads')) called.push(request.url());
  });
  await page.goto('/');
  await visitor.openForm();
  const name = page.getByLabel('Full Name *');
  await name.fill('A');
  await name.blur();
  await expect(page.getByText('Name must be at least 2 characters', { exact: true })).toHaveCount(0);
  await visitor.sendForm();

  await expect(name).toBeFocused();
  await expect(name).toHaveAccessibleDescription('Name must be at least 2 characters');
  await expect(page.getByLabel('Company Name *')).toHaveAccessibleDescription(
    'Company name must be at least 2 characters',
  );
  await expect(page.getByLabel('Work Email *')).toHaveAccessibleDescription(
    'Please enter a valid email address',
  );
  await expect(page.getByRole('checkbox')).toHaveAccessibleDescription('You must agree to receive emails');
  for (const field of [name, page.getByLabel('Work Email *'), page.getByRole('checkbox')]) {
    await expect(field).toHaveAttribute('aria-invalid', 'true');
  }

  await name.fill('Ad');
  await expect(page.getByText('Name must be at least 2 characters', { exact: true })).toHaveCount(0);
  await page.getByLabel('Company Name *').fill('En');
  await page.getByLabel('Work Email *').fill('ada@example');
  await page.getByRole('checkbox').check();
  await visitor.sendForm();
  await expect(page.getByLabel('Work Email *')).toBeFocused();
  await expect(page.getByText('Please enter a valid email address')).toBeVisible();
  expect(called).toEqual([]);
});

test('the form scrolls to itself smoothly 100 ms after it appears', async ({ page, visitor }) => {
  await page.clock.install();
  await page.goto('/');
  await page.evaluate(() => {
    Element.prototype.scrollIntoView = function scrollIntoView(options?: boolean | ScrollIntoViewOptions) {
      document.documentElement.dataset['scrolled'] = JSON.stringify(options);
    };
  });
  await stopClock(page);
  await visitor.openForm();
  const scrolled = () => page.locator('html').getAttribute('data-scrolled');
  await page.clock.runFor(99);
  expect(await scrolled()).toBeNull();
  await page.clock.runFor(1);
  expect(await scrolled()).toBe('{"behavior":"smooth"}');
});

test('sending shows that it sends, and sends the fields of the specification once', async ({
  page,
  visitor,
}) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const bodies: unknown[] = [];
  const headers: Record<string, string>[] = [];
  await page.route('**/api/leads', async (route) => {
    bodies.push(route.request().postDataJSON());
    headers.push(await route.request().allHeaders());
    await held;
    await route.continue();
  });
  await page.goto('/');
  await visitor.openForm();
  await visitor.fillForm();
  await page.getByRole('button', { name: 'Send Verification Code' }).dblclick();
  const button = page.getByRole('button', { name: 'Sending Code...' });
  await expect(button).toBeDisabled();
  await page.getByLabel('Full Name *').press('Enter');
  release();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  expect(bodies).toEqual([
    { name: 'Ada Lovelace', company: 'Analytical Engines', email: visitor.email, consent: true },
  ]);
  expect(headers[0]?.['content-type']).toBe('application/json');
});

test('a refusal stands in a destructive toast with the words of the server, and nothing typed is lost', async ({
  page,
  visitor,
}) => {
  const answers = [
    {
      status: 429,
      body: 'Too many requests came from your network.',
      text: '429: Too many requests came from your network.',
    },
    { status: 500, body: '', text: 'Failed to submit form. Please try again.' },
    null,
  ];
  await page.goto('/');
  await visitor.openForm();
  await visitor.fillForm();
  for (const answer of answers) {
    await page.route(
      '**/api/leads',
      (route) => (answer ? route.fulfill({ status: answer.status, body: answer.body }) : route.abort()),
      { times: 1 },
    );
    await visitor.sendForm();
    await expect(visitor.toast).toHaveCount(1);
    await expect(visitor.toast).toContainText('Error');
    await expect(visitor.toast).toContainText(answer?.text ?? 'Failed to submit form. Please try again.');
    await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
    await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeEnabled();
    await visitor.toast.getByRole('button', { name: 'Close notification' }).click();
    await expect(visitor.toast).toHaveCount(0);
  }
  await visitor.sendForm();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
});

test('the whole flow works by keyboard alone', async ({ page, visitor }) => {
  await page.goto('/');
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('Tab', 'Tab', 'Tab');
  await expect(page.getByRole('button', { name: 'Get Your Free Copy', exact: true })).toBeFocused();
  await press('Enter');
  await expect(page.getByRole('heading', { name: 'Get Your Free Copy' })).toBeFocused();
  await press('Tab');
  await page.keyboard.type('Ada Lovelace');
  await press('Tab');
  await page.keyboard.type('Analytical Engines');
  await press('Tab');
  await page.keyboard.type(visitor.email);
  await press('Tab', 'Space', 'Tab');
  await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeFocused();
  await press('Enter');
  await expect(visitor.box(1)).toBeFocused();
  await page.keyboard.type(await visitor.mailedCode());
  await expect(page.getByRole('heading', { level: 1, name: 'Master AI-Powered Outreach' })).toBeFocused();
  await press('Shift+Tab', 'Shift+Tab', 'Shift+Tab');
  await expect(page.getByRole('button', { name: 'Back' })).toBeFocused();
  await press('Enter');
  await expect(
    page.getByRole('heading', { level: 1, name: 'Master AI-Powered Cold Outreach' }),
  ).toBeFocused();
});

test('a filled trap, as form fillers leave it, costs the browser a proof of work, and the code arrives', async ({
  page,
  visitor,
}) => {
  await page.goto('/');
  await visitor.openForm();
  await page.locator(`[name=${HONEYPOT_FIELD}]`).evaluate((field: HTMLInputElement) => {
    field.value = 'https://example.com';
  });
  await visitor.fillForm();
  await visitor.sendForm();
  await visitor.enterCode(await visitor.mailedCode());
  await expect(page.getByRole('article')).toBeVisible();
});

test('an address at a blocked provider is marked with the sentence of the server until it is changed', async ({
  page,
  visitor,
}) => {
  const sentence = 'We cannot send a code to an address at this provider. Please use your work email.';
  await page.goto('/');
  await visitor.openForm();
  await visitor.fillForm();
  await page.route(
    '**/api/leads',
    (route) =>
      route.fulfill({ status: 400, headers: { 'x-error-code': 'email-domain-refused' }, body: sentence }),
    { times: 1 },
  );
  await visitor.sendForm();
  const email = page.getByLabel('Work Email *');
  await expect(visitor.toast).toContainText(`400: ${sentence}`);
  await visitor.toast.getByRole('button', { name: 'Close notification' }).click();
  await expect(visitor.toast).toHaveCount(0);
  await expect(email).toHaveAccessibleDescription(sentence);
  await expect(email).toHaveAttribute('aria-invalid', 'true');
  await email.fill('ada@work.example');
  await expect(email).toHaveAccessibleDescription('');
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
});

test('a character that no address has is named below the message', async ({ page, visitor }) => {
  await page.goto('/');
  await visitor.openForm();
  const email = page.getByLabel('Work Email *');
  await expect(email).toHaveAttribute('autocorrect', 'off');
  await visitor.fillForm({ email: 'jürgen@example.com' });
  await visitor.sendForm();
  await expect(email).toHaveAccessibleDescription('Please enter a valid email address');
  await expect(page.getByText('“ü” cannot be part of an email address.')).toBeVisible();
  await email.fill('jurgen@example');
  await expect(page.getByText(/cannot be part of/)).toHaveCount(0);
  await email.fill(`Ada Lovelace <${visitor.email}>;`);
  await visitor.sendForm();
  await expect(page.getByText(visitor.email, { exact: true })).toBeVisible();
});
