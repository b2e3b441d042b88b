import type { CDPSession, Page } from '@playwright/test';

import { expectNoViolations } from './axe.ts';
import { expect, PEOPLE, test } from './desk-fixtures.ts';

async function addAuthenticator(page: Page) {
  const browser: CDPSession = await page.context().newCDPSession(page);
  await browser.send('WebAuthn.enable');
  const { authenticatorId } = await browser.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    /** False imitates a user who cancels the browser's dialogue. */
    agrees: (isUserVerified: boolean) =>
      browser.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  };
}

const signInHeading = (page: Page) => page.getByRole('heading', { name: 'Sign in to the desk' });
const usePasskey = (page: Page) => page.getByRole('button', { name: 'Use a passkey' });
const passkeysOf = (page: Page) => page.getByRole('region', { name: 'Passkeys' });

test('a passkey signs in without an e-mail address until it is removed', async ({ page, desk }) => {
  test.slow();
  const authenticator = await addAuthenticator(page);
  await page.goto('/account');
  await page.getByLabel('E-mail address').fill(PEOPLE.passkey);
  await page.keyboard.press('Enter');
  await page.getByLabel('Six-digit code').fill(await desk.newestCode(PEOPLE.passkey));
  const passkeys = passkeysOf(page);
  await expect(passkeys).toContainText('You have no passkey yet.');
  await expectNoViolations(page, 'no passkey');

  const add = passkeys.getByRole('button', { name: 'Add a passkey' });
  await add.click();
  const dialogue = page.getByRole('dialog', { name: 'Add a passkey' });
  const name = dialogue.getByLabel('Name');
  await expect(name).toHaveValue(/^Chrome on /);
  await expectNoViolations(page, 'adding a passkey');
  const confirm = dialogue.getByRole('button', { name: 'Add the passkey' });
  await name.fill(' ');
  await expect(confirm).toBeDisabled();

  await name.fill('Laptop at work');
  await authenticator.agrees(false);
  const asked = page.waitForResponse('**/api/passkeys/options');
  await confirm.click();
  await asked;
  await expect(confirm).toBeVisible();
  await expect(dialogue.getByRole('alert')).toBeHidden();
  await authenticator.agrees(true);
  await confirm.click();
  await expect(page.getByText('The passkey was added. You can now use it to sign in.')).toBeVisible();
  await expect(dialogue).toBeHidden();
  await expect(add).toBeFocused();
  const row = passkeys.getByRole('row', { name: /Laptop at work/ });
  await expect(row).toContainText('Not yet');
  await expectNoViolations(page, 'a passkey');

  await add.click();
  await confirm.click();
  await expect(dialogue.getByRole('alert')).toHaveText(/^This device already has one of your passkeys\./);
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(signInHeading(page)).toBeVisible();
  await authenticator.agrees(false);
  const askedAgain = page.waitForResponse('**/api/sign-in/passkey/options');
  await usePasskey(page).click();
  await askedAgain;
  await expect(usePasskey(page)).toBeVisible();
  await expect(page.getByRole('alert')).toBeHidden();
  await authenticator.agrees(true);
  await usePasskey(page).click();
  await expect(page.getByRole('heading', { name: 'Account', level: 1 })).toBeVisible();
  await expect(page.getByText(`${PEOPLE.passkey} · May read`)).toBeVisible();
  await expect(row).not.toContainText('Not yet');

  await row.getByRole('button', { name: 'Remove the passkey Laptop at work' }).click();
  const question = page.getByRole('alertdialog', { name: 'Remove “Laptop at work”?' });
  await expectNoViolations(page, 'removing a passkey');
  await page.keyboard.press('Escape');
  await expect(question).toBeHidden();
  await expect(row.getByRole('button')).toBeFocused();
  await page.keyboard.press('Enter');
  await question.getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText('The passkey was removed.')).toBeVisible();
  await expect(passkeys).toContainText('You have no passkey yet.');

  await page.getByRole('button', { name: 'Sign out' }).click();
  await usePasskey(page).click();
  await expect(page.getByRole('alert')).toHaveText(
    'This passkey was not accepted. Try again, or sign in with an e-mailed code.',
  );
  await expectNoViolations(page, 'a refused passkey');
  await page.reload();
  await expect(signInHeading(page)).toBeVisible();
});

test('a browser without passkey support is not offered passkeys', async ({ page, open }) => {
  await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'PublicKeyCredential'));
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Send the code' })).toBeVisible();
  await expect(usePasskey(page)).toBeHidden();
  await open('/account', 'read');
  const passkeys = passkeysOf(page);
  await expect(passkeys).toContainText('You have no passkey yet.');
  await expect(passkeys).toContainText('This browser cannot add passkeys here.');
  await expect(passkeys.getByRole('button', { name: 'Add a passkey' })).toBeHidden();
});
