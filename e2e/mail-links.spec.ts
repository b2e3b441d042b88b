import type { Browser, Page } from '@playwright/test';

import type { Site } from '#testing/start-site.ts';
import { becomeLead, changingTest as test, expect, KEPT_LEAD } from './desk-fixtures.ts';

async function onAnotherDevice(browser: Browser, act: (page: Page) => Promise<void>): Promise<void> {
  await using context = await browser.newContext();
  await act(await context.newPage());
}

const linkIn = (text: string, api: string, { url }: Site): string =>
  url + (new RegExp(`/api/${api}\\?t=\\S+`).exec(text)?.[0] ?? '/nothing');

test('the link in the guide mail opens it on another device', async ({ browser, desk: { site } }) => {
  test.slow();
  const email = 'reader@devices.example';
  await becomeLead(site, { ...KEPT_LEAD, email });
  const { text = '' } = (await site.inbox.waitForMail(email, 2)).parsed;

  await onAnotherDevice(browser, async (device) => {
    await device.goto(linkIn(text, 'guide', site));
    await expect(device.getByRole('article')).toContainText('Response rate');
    expect(device.url()).toBe(`${site.url}/`);
    await device.reload();
    await expect(device.getByRole('article')).toBeVisible();
    await device.getByRole('button', { name: 'Back' }).click();
    await expect(device.getByRole('heading', { level: 1 })).toHaveText('Master AI-Powered Cold Outreach');
  });
  await onAnotherDevice(browser, async (device) => {
    await device.goto(`${site.url}/#guide`);
    await expect(device.getByText('Your access has ended')).toBeVisible();
    await expect(device.getByRole('article')).toHaveCount(0);
  });
  await onAnotherDevice(browser, async (device) => {
    const complaints: string[] = [];
    device.on('console', (message) => complaints.push(message.text()));
    await device.emulateMedia({ colorScheme: 'dark' });
    await device.goto(linkIn(text, 'unsubscribe', site));
    await expect(device.getByRole('heading', { level: 1 })).toHaveText('Unsubscribe from our emails?');
    const paper = () => device.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await paper()).toBe('rgb(250, 247, 240)');
    await device.evaluate(() => localStorage.setItem('theme', 'dark'));
    await device.reload();
    expect(await paper()).toBe('rgb(18, 19, 15)');
    await expect(device.getByRole('contentinfo')).toContainText('All rights reserved');
    await expect(device.getByRole('link', { name: 'Privacy Policy' })).toBeVisible();
    await device.keyboard.press('Tab');
    await device.keyboard.press('Tab');
    await expect(device.getByRole('button', { name: 'Unsubscribe' })).toBeFocused();
    await device.keyboard.press('Enter');
    await expect(device.getByRole('heading', { level: 1 })).toHaveText('You are unsubscribed');
    expect(complaints).toEqual([]);
  });
});
