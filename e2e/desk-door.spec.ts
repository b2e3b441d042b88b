import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

import { expectFitsTelephone, expectNoViolations } from './axe.ts';
import { expect, keepSession, loseSession, PEOPLE, test } from './desk-fixtures.ts';

test('a desk user signs in with a mailed code and reaches the requested page', async ({ page, desk }) => {
  await page.goto('/leads?source=newsletter');
  await expect(page.getByRole('heading', { name: 'Sign in to the desk' })).toBeVisible();
  const address = page.getByLabel('E-mail address');
  await address.fill('eve');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await expect(address).toHaveAccessibleDescription('Enter your e-mail address, such as ada@example.com.');
  await expectNoViolations(page, 'sign in with an error');
  await address.fill(PEOPLE.signsIn);
  await address.press('Enter');
  const code = page.getByLabel('Six-digit code');
  await expect(code).toBeFocused();
  const digits = await desk.newestCode(PEOPLE.signsIn);
  await code.fill(digits === '000000' ? '111111' : '000000');
  await expect(code).toHaveAccessibleDescription(/^This code is wrong or has expired\./);
  await expect(code).toHaveValue('');
  await expectNoViolations(page, 'a refused code');
  await code.fill(digits);
  await expect(page.getByRole('heading', { name: 'Leads', level: 1 })).toBeFocused();
  await expect(page.getByRole('rowheader')).toHaveText(['Grace Hopper', 'Ada Lovelace']);
  await expect(page).toHaveURL('/leads?source=newsletter');
  await expect(page).toHaveTitle('Leads – Desk');

  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { name: 'Sign in to the desk' })).toBeVisible();
  await expect(page.getByText('Ada Lovelace')).toBeHidden();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Sign in to the desk' })).toBeVisible();
});

test('a stranger sees the same sign-in as a desk user', async ({ page }) => {
  await page.clock.install();
  await page.goto('/');
  await page.getByLabel('E-mail address').fill('stranger@example.com');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await expect(page.getByRole('heading', { name: 'Enter the code' })).toBeVisible();
  await expect(
    page.getByText('If stranger@example.com has access to the desk, you will receive a code.'),
  ).toBeVisible();
  await expect(page.getByText(/^You can request a new code in \d+ seconds?$/)).toBeVisible();
  await page.clock.fastForward('01:00');
  await page.getByRole('button', { name: 'Send a new code' }).click();
  await expect(page.getByLabel('Six-digit code')).toBeFocused();
  await page.getByLabel('Six-digit code').fill('123456');
  await expect(page.getByLabel('Six-digit code')).toHaveAccessibleDescription(/^This code is wrong/);
  await page.getByRole('button', { name: 'Use another address' }).click();
  await expect(page.getByLabel('E-mail address')).toHaveValue('');
  await expectFitsTelephone(page, 'sign in');
});

test("a session in the desk lasts even if the browser's clock is a day ahead", async ({ page, open }) => {
  await page.clock.install({ time: Date.now() + 86_400_000 });
  await open('/leads');
  await expect(page.getByRole('rowheader').first()).toBeVisible();
  await page.clock.fastForward('11:00:00');
  await expect(page.getByRole('rowheader').first()).toBeVisible();
  await page.clock.fastForward('01:00:00');
  await expect(page.getByText(/^Your session has ended\./)).toBeVisible();
});

test('a desk page and an export notice that the session has ended', async ({ page, open }) => {
  const ended = page.getByText('Your session has ended. Sign in again to continue where you left off.');
  await open('/leads');
  await expect(page.getByRole('rowheader').first()).toBeVisible();
  await loseSession(page);
  await page.getByRole('navigation').getByRole('link', { name: 'Companies' }).click();
  await expect(ended).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await expect(page.getByRole('navigation')).toBeHidden();
  await expect(page).toHaveURL('/companies');

  await open('/leads');
  await page.getByRole('button', { name: 'Export' }).click();
  const dialogue = page.getByRole('dialog', { name: 'Export' });
  await expect(dialogue.getByRole('radio', { name: 'HubSpot' })).toBeVisible();
  await loseSession(page);
  await dialogue.getByRole('button', { name: 'Export' }).click();
  await expect(ended).toBeVisible();
  await expect(page.getByText('ada@engines.example')).toBeHidden();
});

test('a desk page is loaded again for the next desk user in the same tab', async ({ page, open, desk }) => {
  await open('/leads');
  await expect(page.getByRole('rowheader').first()).toBeVisible();
  await keepSession(page, await desk.signedIn('read'));
  const asked = page.waitForRequest('**/api/people?*');
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await asked;
  await expect(page.getByRole('rowheader').first()).toBeVisible();
});

test("the account page lists the desk's sessions and can end them", async ({ page, open, request, desk }) => {
  const headers = await desk.signIn(PEOPLE.read, 'Firefox/140.0 (Windows)');
  await open('/account', 'read');
  const row = page.getByRole('row', { name: /Firefox on Windows/ });
  await row.getByRole('button', { name: 'End the session of Firefox on Windows' }).click();
  const dialogue = page.getByRole('alertdialog', { name: 'End this session?' });
  await expect(dialogue).toContainText('To use the desk in that browser again, you will have to sign in.');
  await expect(dialogue.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await expectNoViolations(page, 'ending a session');
  await page.keyboard.press('Escape');
  await expect(dialogue).toBeHidden();
  await expect(row.getByRole('button')).toBeFocused();
  await page.keyboard.press('Enter');
  await dialogue.getByRole('button', { name: 'End the session' }).click();
  await expect(page.getByText('The session has ended.')).toBeVisible();
  await expect(row).toBeHidden();
  expect((await request.get('/api/me', { headers })).status()).toBe(401);
  await expect(page.getByRole('row', { name: /this one/ })).toBeVisible();
  await expectFitsTelephone(page, 'account');
});

test('the link from "desk open" works once; its token leaves the URL', async ({ page, desk, browser }) => {
  const command = spawn(process.execPath, ['desk/start.js', 'open'], {
    env: { PATH: process.env['PATH'], INSTANCE_FOLDER: desk.site.folder, ...desk.site.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(command.stdout, 'data')) as [Buffer];
    const link = line.toString().trim();
    const taken = page.waitForResponse('**/api/sign-in/link');
    let first = true;
    await page.route('**/api/me', async (route) => {
      if (!first) return route.continue();
      first = false;
      const response = await route.fetch();
      await taken;
      await setTimeout(200);
      return route.fulfill({ response }).catch(() => {});
    });
    await page.goto(link);
    await expect(page.getByRole('heading', { name: 'Today', level: 1 })).toBeVisible();
    await expect(page).toHaveURL(new URL('/', link).href);
    await expect(page.getByText('On this computer')).toBeVisible();
    await page.goto(new URL('/account', link).href);
    await expect(page.getByRole('heading', { name: 'Sessions' })).toBeVisible();
    await expect(page.getByText('passkey')).toBeHidden();
    await using second = await browser.newContext();
    const other = await second.newPage();
    await other.goto(link);
    await expect(other.getByRole('heading', { name: 'This link does not open the desk' })).toBeVisible();
    await expect(
      other.getByText('This link has already been used or is more than ten minutes old.'),
    ).toBeVisible();
    await expect(other, 'without the token').toHaveURL(new URL('/enter', link).href);
    await expectNoViolations(other, 'a link that does not work');
    await other.goto(new URL('/', link).href);
    await expect(other.getByRole('heading', { name: 'Sign in to the desk' })).toBeVisible();
    await expect(other.getByRole('button', { name: 'Use a passkey' })).toBeHidden();
  } finally {
    command.kill('SIGINT');
    await once(command, 'exit');
  }
});
