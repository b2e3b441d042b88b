// Mail, webhooks and the doctor in the desk.
import type { Answer } from '#desk/calls/call.ts';
import type { doctor } from '#desk/calls/figures.ts';
import { startReceiver } from '#testing/webhook-receiver.ts';
import {
  askForCode,
  becomeLead,
  expect,
  expectNoViolations,
  sidewaysOverflow,
  test as base,
} from './desk-fixtures.ts';

type Webhooks = {
  /** Whether the other program takes events; one that does not says that it never will. */
  isOpen: boolean;
  readonly url: string;
  readonly types: () => readonly string[];
};

const test = base.extend<object, { readonly webhooks: Webhooks }>({
  webhooks: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixture's needs from this pattern
    async ({}, use) => {
      const taken: string[] = [];
      const receiver = await startReceiver(({ event }, response) => {
        if (webhooks.isOpen) taken.push(event.type);
        response.writeHead(webhooks.isOpen ? 204 : 410).end();
      });
      const webhooks: Webhooks = { isOpen: false, url: receiver.url, types: () => taken };
      await use(webhooks);
      await receiver.close();
    },
    { scope: 'worker' },
  ],
  deskOptions: [
    async ({ webhooks }, use) =>
      use({
        env: { WEBHOOK_ALLOW_PRIVATE: 'yes', WEBHOOK_URLS: webhooks.url },
        people: [],
        inbox: {
          onRecipient: (address) =>
            address.endsWith('@refused.example')
              ? Object.assign(new Error('5.1.1 User unknown'), { responseCode: 550 })
              : address.endsWith('@later.example')
                ? Object.assign(new Error('4.7.1 Try again later'), { responseCode: 451 })
                : null,
        },
      }),
    { scope: 'worker' },
  ],
});

test('mail that waits or was refused, and messages to webhooks, are there, and are sent again', async ({
  page,
  desk,
  webhooks,
  open,
}) => {
  test.slow();
  const about = { company: 'Globex', source: 'newsletter' };
  for (const email of ['one@refused.example', 'two@later.example'])
    await (await askForCode(desk.site, { ...about, name: 'Ada Lovelace', email })).visitor.dispose();
  await becomeLead(desk.site, { ...about, name: 'Grace Hopper', email: 'grace@globex.example' });
  await expect(async () => {
    await open('/mail');
    await expect(page.getByRole('table', { name: 'Mail that waits' })).toContainText('later.example');
    const refused = page.getByRole('table', { name: 'Mail that was refused' });
    await expect(refused.getByRole('row', { name: /refused\.example/ })).toContainText('5.1.1 User unknown');
    const suppressed = page.getByRole('table', { name: 'Addresses that get no mail' });
    await expect(suppressed.getByRole('row', { name: /one@refused\.example/ })).toContainText(
      'Mail came back',
    );
    await expect(suppressed.getByRole('link', { name: 'one@refused.example' })).toHaveAttribute(
      'href',
      /^\/person\?id=[0-9a-f-]{36}$/,
    );
    await expect(page.getByText('0 messages wait, 1 was given up.')).toBeVisible();
  }).toPass({ timeout: 30_000 });
  webhooks.isOpen = true;
  await page.getByRole('button', { name: 'Send lead.verified again' }).click();
  await expect(page.getByText('1 message is sent again.')).toBeVisible();
  await expect.poll(() => webhooks.types(), { timeout: 30_000 }).toEqual(['lead.verified']);
  await expect(async () => {
    await open('/mail');
    await expect(page.getByText('Every message has arrived.')).toBeVisible();
  }).toPass();
  await open('/log');
  await expect(page.getByRole('row', { name: /Sent webhooks again/ })).toContainText('1 event');
});

/** What the doctor finds depends on the DNS that it asks; desk/doctor/ is tested with one of its own. */
const FOUND: Answer<typeof doctor> = {
  lookedAt: '2026-11-23T06:00:00.000Z',
  findings: [
    { check: 'database', state: 'ok', sentence: 'It can be read and written.' },
    {
      check: 'SPF',
      state: 'problem',
      sentence: 'example.com has no SPF record.',
      publish: { name: 'example.com', type: 'TXT', value: 'v=spf1 include:_spf.provider.example -all' },
    },
    { check: 'DKIM', state: 'warning', sentence: 'This server does not sign.' },
    { check: 'clock', state: 'note', sentence: 'Nothing else was asked for the time.' },
  ],
};

test('the doctor says the worst first, gives records to copy, and looks again', async ({
  page,
  context,
  open,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const asked: string[] = [];
  await page.route('**/api/doctor*', async (route) => {
    asked.push(new URL(route.request().url()).search);
    const lookedAt = asked.length === 1 ? FOUND.lookedAt : '2026-11-23T07:30:00.000Z';
    await route.fulfill({ json: { ...FOUND, lookedAt } });
  });
  await open('/doctor');
  await expect(page.getByText('1 problem, 1 warning.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 3 })).toHaveText(['SPF', 'DKIM', 'Clock']);
  await page.getByText('1 check found nothing to fix').click();
  await expect(page.getByRole('heading', { name: 'Database' })).toBeVisible();
  const button = page.getByRole('button', { name: 'Copy Value for SPF' });
  await button.click();
  await expect(button).toHaveText('Copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(FOUND.findings[1]!.publish!.value);
  await expect(button).toHaveText('Copy');
  await page.getByRole('button', { name: 'Look again' }).click();
  await expect(page.locator('time[datetime="2026-11-23T07:30:00.000Z"]')).toBeVisible();
  expect(asked).toEqual(['', '?again=yes']);
});

for (const theme of ['light', 'dark'])
  test(`every state of mail and doctor passes axe in the ${theme} theme`, async ({ page, desk, open }) => {
    test.slow();
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const email = `${theme}@refused.example`;
    const person = { name: 'Ada Lovelace', company: 'Globex', email, source: 'newsletter' };
    await (await askForCode(desk.site, person)).visitor.dispose();
    await expect(async () => {
      await open('/mail');
      await expect(page.getByRole('rowheader', { name: email })).toBeVisible();
    }).toPass({ timeout: 30_000 });
    await expectNoViolations(page, 'mail');
    await page.route('**/api/doctor*', (route) => route.fulfill({ json: FOUND }));
    await open('/doctor');
    await expect(page.getByText('1 problem, 1 warning.')).toBeVisible();
    await expectNoViolations(page, 'doctor');
    await page.setViewportSize({ width: 375, height: 812 });
    await expectNoViolations(page, 'doctor on a telephone');
    await open('/mail');
    await expect(page.getByRole('list', { name: 'Addresses that get no mail' })).toBeVisible();
    await expectNoViolations(page, 'mail on a telephone');
    await page.route('**/api/mail', (route) => route.abort());
    await open('/mail');
    await expect(page.getByRole('alert')).toBeVisible();
    await expectNoViolations(page, 'mail that could not be read');
  });

test('mail and doctor fit a telephone @layout', async ({ page, open }) => {
  await page.setViewportSize({ width: 375, height: 812 });
  await open('/mail');
  await expect(page.getByRole('heading', { name: 'Webhooks' })).toBeVisible();
  expect(await sidewaysOverflow(page)).toBe(0);
  await page.route('**/api/doctor*', (route) => route.fulfill({ json: FOUND }));
  await open('/doctor');
  await expect(page.getByText('1 problem, 1 warning.')).toBeVisible();
  expect(await sidewaysOverflow(page)).toBe(0);
});
