import { HONEYPOT_FIELD, LeadForm } from '#shared/lead.ts';
import { filledForm } from '#testing/server-under-test.ts';

import { fulfillNext, bodiesOf, expect, hold, requestsTo, stopClock, test } from './fixtures.ts';

test.use({ reducedMotion: 'no-preference' });

test('the form has the specified fields and shows errors until corrected', async ({ page, visitor }) => {
  const calls = requestsTo(page, '/api/leads');
  await visitor.startAtForm();
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
    Object.keys(LeadForm.shape),
  );
  await expect(page.getByRole('main')).not.toContainText(/\b(three|four) fields\b/i);
  for (const [label, capitals, key] of [
    ['Full Name *', 'words', 'next'],
    ['Company Name *', 'words', 'next'],
    ['Work Email *', 'none', 'send'],
  ] as const) {
    await expect(page.getByLabel(label)).toHaveAttribute('autocapitalize', capitals);
    await expect(page.getByLabel(label)).toHaveAttribute('enterkeyhint', key);
  }
  await expect(page.getByLabel('Work Email *')).toHaveAttribute('autocorrect', 'off');
  await expect(page.locator('meta[name=viewport]')).toHaveAttribute('content', /viewport-fit=cover/);

  const name = page.getByLabel('Full Name *');
  await name.fill('A');
  await name.blur();
  await expect(page.getByText('Name must be at least 2 characters', { exact: true })).toHaveCount(0);
  await visitor.sendForm();

  await expect(name).toBeFocused();
  const company = page.getByLabel('Company Name *');
  const email = page.getByLabel('Work Email *');
  for (const [field, sentence] of [
    [name, 'Name must be at least 2 characters'],
    [company, 'Company name must be at least 2 characters'],
    [email, 'Please enter a valid email address'],
    [consent, 'You must agree to receive emails'],
  ] as const) {
    await expect(field).toHaveAccessibleDescription(sentence);
    await expect(field).toHaveAttribute('aria-invalid', 'true');
  }

  await name.fill('Ad');
  await expect(page.getByText('Name must be at least 2 characters', { exact: true })).toHaveCount(0);
  await company.fill('En');
  await email.fill('ada@example');
  await consent.check();
  await visitor.sendForm();
  await expect(email).toBeFocused();
  await expect(page.getByText('Please enter a valid email address')).toBeVisible();

  await email.fill('jürgen@example.com');
  await visitor.sendForm();
  await expect(email).toHaveAccessibleDescription('Please enter a valid email address');
  await expect(page.getByText('“ü” cannot be part of an email address.')).toBeVisible();
  await email.fill('jurgen@example');
  await expect(page.getByText(/cannot be part of/)).toHaveCount(0);
  expect(calls).toEqual([]);
  await email.fill(`Ada Lovelace <${visitor.email}>;`);
  await visitor.sendForm();
  await expect(page.getByText(visitor.email, { exact: true })).toBeVisible();
});

test('the form scrolls after 100 ms, smoothly unless motion is reduced', async ({ page, visitor }) => {
  await page.clock.install();
  await page.goto('/');
  await page.evaluate(() => {
    Element.prototype.scrollIntoView = function scrollIntoView(options?: boolean | ScrollIntoViewOptions) {
      document.documentElement.dataset['scrolled'] = JSON.stringify(options);
    };
  });
  await stopClock(page);
  const scrolled = () => page.locator('html').getAttribute('data-scrolled');
  for (const [reducedMotion, behavior] of [
    ['no-preference', 'smooth'],
    ['reduce', 'instant'],
  ] as const) {
    await page.emulateMedia({ reducedMotion });
    await visitor.openForm();
    await page.clock.runFor(99);
    expect(await scrolled()).toBeNull();
    await page.clock.runFor(1);
    expect(await scrolled()).toBe(JSON.stringify({ behavior }));
    await page.goBack();
    await expect(visitor.landing).toBeVisible();
    await page.evaluate(() => delete document.documentElement.dataset['scrolled']);
  }
});

test('the form shows that it is being sent, and sends its fields once', async ({ page, visitor }) => {
  const calls = requestsTo(page, '/api/leads');
  const release = await hold(page, '**/api/leads');
  await visitor.startAtFilledForm();
  await page.getByRole('button', { name: 'Send Verification Code' }).dblclick();
  const button = page.getByRole('button', { name: 'Sending Code...' });
  await expect(button).toBeDisabled();
  await page.getByLabel('Full Name *').press('Enter');
  release();
  await expect(visitor.codeScreen).toBeVisible();
  expect(bodiesOf(calls)).toEqual([filledForm({ email: visitor.email })]);
  expect(await calls[0]?.headerValue('content-type')).toBe('application/json');
});

const FALLBACK = 'Failed to submit form. Please try again.';

const FAILURES = [
  { what: 'a sentence of the server', status: 429, body: 'Too many.', says: '429: Too many.' },
  { what: 'nothing', status: 500, body: '', says: FALLBACK },
  { what: 'a portal', status: 200, body: '<!DOCTYPE html><p>Please sign in.', says: FALLBACK },
];

const REFUSED_FIELDS = [
  { field: 'email', label: 'Work Email *', change: 'ada@work.example' },
  { field: 'company', label: 'Company Name *', change: 'Engines' },
  { field: 'consent', label: /^I agree to receive emails/, change: null },
] as const;

test('a refused form shows a toast, keeps the text and names the field', async ({ page, visitor }) => {
  await visitor.startAtFilledForm();
  for (const { what, says, ...answer } of FAILURES)
    await test.step(`form answered with ${what}`, async () => {
      await fulfillNext(page, '**/api/leads', answer);
      await visitor.sendForm();
      await expect(visitor.toast).toHaveText(`Error ${says}`);
      await expect(visitor.toast).toHaveAttribute('data-variant', 'destructive');
      await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
      await expect(page.getByRole('button', { name: 'Send Verification Code' })).toBeEnabled();
      await visitor.closeToast();
    });

  for (const { field, label, change } of REFUSED_FIELDS)
    await test.step(field, async () => {
      const body = `Not this ${field}.`;
      await visitor.fillForm();
      await fulfillNext(page, '**/api/leads', { status: 400, headers: { 'x-error-field': field }, body });
      await visitor.sendForm();
      const refused = page.getByLabel(label);
      await expect(visitor.toast).toHaveText(`Error 400: ${body}`);
      await expect(refused).toBeFocused();
      await visitor.closeToast();
      await page.getByLabel('Full Name *').fill('Ada King');
      await expect(refused).toHaveAccessibleDescription(body);
      await expect(refused).toHaveAttribute('aria-invalid', 'true');
      await (change === null ? refused.uncheck() : refused.fill(change));
      await expect(page.getByText(body)).toHaveCount(0);
    });
  await visitor.sendValidForm();
});

test('the hidden field leads to a proof of work, and then to the code', async ({ page, visitor }) => {
  await visitor.startAtForm();
  await page.locator(`[name=${HONEYPOT_FIELD}]`).evaluate((field: HTMLInputElement) => {
    field.value = 'https://example.com';
  });
  await visitor.sendValidForm();
  await visitor.mailedCode();
});
