import { expectFitsTelephone, expectNoViolations } from './axe.ts';
import { changingTest as test, expect, FOUND } from './desk-fixtures.ts';
import { fulfillNext } from './fixtures.ts';

test('the mail page lists queued and refused mail and resends events', async ({ page, receiver, open }) => {
  test.slow();
  await expect(async () => {
    await open('/mail');
    await expect(page.getByRole('table', { name: 'Queued mail' })).toContainText('later.example');
    const refused = page.getByRole('table', { name: 'Refused mail' });
    await expect(refused.getByRole('row', { name: /refused\.example/ })).toContainText('5.1.1 Recipient');
    const suppressed = page.getByRole('table', { name: 'Addresses that get no mail' });
    const address = 'mireille@refused.example';
    await expect(suppressed.getByRole('row', { name: address })).toContainText('Mail came back');
    await expect(suppressed.getByRole('link', { name: address })).toHaveAttribute(
      'href',
      /^\/person\?id=[0-9a-f-]{36}$/,
    );
    await expect(page.getByText('0 events are queued, 1 was given up.')).toBeVisible();
  }).toPass({ timeout: 30_000 });
  await expectNoViolations(page, 'mail');
  await page.getByRole('button', { name: 'Send again: lead.verified' }).click();
  await expect(page.getByText('1 event is being sent again.')).toBeVisible();
  const [first] = receiver.received;
  await expect
    .poll(() => receiver.received.filter(({ id }) => id === first?.id), { timeout: 30_000 })
    .toHaveLength(2);
  await expect(async () => {
    await open('/mail');
    await expect(page.getByText('All events have been delivered.')).toBeVisible();
  }).toPass();
  await expectFitsTelephone(page, 'mail', 'Addresses that get no mail');
  await page.route('**/api/mail', (route) => route.abort());
  await page.reload();
  await expect(page.getByRole('alert')).toBeVisible();
  await expectNoViolations(page, 'mail that could not be read');
  await open('/log');
  await expect(page.getByRole('row', { name: /Sent webhooks again/ })).toContainText('1 event');
});

test('the doctor page lists the worst problems first and can check again', async ({ page, open }) => {
  const asked: string[] = [];
  await page.route('**/api/doctor*', async (route) => {
    asked.push(new URL(route.request().url()).search);
    const checkedAt = asked.length === 1 ? FOUND.checkedAt : '2026-11-23T07:30:00.000Z';
    await route.fulfill({ json: { ...FOUND, checkedAt } });
  });
  await open('/doctor');
  await expect(page.getByText('1 problem, 1 warning.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 3 })).toHaveText(['SPF', 'DKIM', 'Clock']);
  await expectNoViolations(page, 'doctor');
  await expectFitsTelephone(page, 'doctor');
  await page.getByText('1 check found no problems').click();
  await expect(page.getByRole('heading', { name: 'Database' })).toBeVisible();
  const button = page.getByRole('button', { name: 'Copy Value for SPF' });
  await button.click();
  await expect(button).toHaveText('Copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(FOUND.findings[1]!.publish!.value);
  await page.getByRole('button', { name: 'Check again' }).click();
  await expect(page.locator('time[datetime="2026-11-23T07:30:00.000Z"]')).toBeVisible();
  expect(asked).toEqual(['', '?again=yes']);
});

test('the doctor page selects a record that the browser does not let it copy', async ({ page, open }) => {
  await page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await fulfillNext(page, '**/api/doctor*', { json: FOUND });
  await open('/doctor');
  const button = page.getByRole('button', { name: 'Copy Value for SPF' });
  await button.click();
  await expect(button).toHaveText('Press Ctrl+C');
  expect(await page.evaluate(() => String(getSelection()))).toBe(FOUND.findings[1]!.publish!.value);
});
