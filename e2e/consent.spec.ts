import type { Page } from '@playwright/test';

import { consentVersion, readConsent } from '#server/campaign/campaign.ts';
import { wordsOrThrow } from '#server/campaign/words-file.ts';
import { keepConsentWording } from '#server/db/tables/consent-wordings.ts';
import { CONSENT_VERSION_HEADER } from '#shared/api.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import type { Site } from '#testing/start-site.ts';
import { createVisitor, expect, inDatabase, test } from './fixtures.ts';

const TODAY = wordsOrThrow(readConsent(TEST_CAMPAIGN));

const otherWording = (text: string) => ({ text, version: consentVersion(text) });

async function openOldTab(page: Page, old: { text: string; version: string }): Promise<void> {
  await page.route('**/assets/app-*', async (route) => {
    const chunk = await (await route.fetch()).text();
    const body = chunk.replaceAll(TODAY.text, old.text).replaceAll(TODAY.version, old.version);
    await route.fulfill({ contentType: 'text/javascript; charset=utf-8', body });
  });
  await page.goto('/');
}

async function reloadToday(page: Page): Promise<void> {
  await page.unroute('**/assets/app-*');
  await page.reload();
}

const receiptsOf = (site: Site, email: string) =>
  inDatabase(site, async (db) => {
    const rows = await db
      .selectFrom('consent_receipts')
      .innerJoin('leads', 'leads.id', 'consent_receipts.lead_id')
      .innerJoin('consent_wordings', 'consent_wordings.version', 'consent_receipts.consent_version')
      .select('text')
      .where('leads.email', '=', email)
      .execute();
    return rows.map(({ text }) => text);
  });

test('the form of an old tab needs the new consent wording', async ({ page, visitor, site }) => {
  const old = otherWording('I agree to whatever you like.');
  await openOldTab(page, old);
  await visitor.openForm();
  await expect(page.getByLabel(old.text)).not.toBeChecked();
  await visitor.fillForm();
  await visitor.sendForm();
  await expect(visitor.toast).toContainText('Error');
  await expect(visitor.toast).toContainText(
    '409: The words beside the checkbox have changed since you opened this page. Please reload this page and send the form again.',
  );
  const expectTexts = async () => {
    await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
    await expect(page.getByLabel('Company Name *')).toHaveValue('Analytical Engines');
    await expect(page.getByLabel('Work Email *')).toHaveValue(visitor.email);
  };
  await expectTexts();
  expect(site.inbox.mailsTo(visitor.email)).toEqual([]);

  await reloadToday(page);
  await expectTexts();
  await expect(page.getByLabel(TODAY.text)).not.toBeChecked();
  await visitor.sendForm();
  await expect(page.getByText('You must agree to receive emails')).toBeVisible();
  await page.getByLabel(TODAY.text, { exact: true }).check();
  const sent = page.waitForRequest('**/api/leads');
  await visitor.sendForm();
  expect((await sent).headers()[CONSENT_VERSION_HEADER]).toBe(TODAY.version);
  await visitor.openArticle();
  expect(await receiptsOf(site, visitor.email)).toEqual([TODAY.text]);
});

test('a resend from a newer page keeps the accepted consent wording', async ({ page, visitor, site }) => {
  await page.clock.install();
  const old = otherWording('I agree to receive emails, as it read in spring.');
  await inDatabase(site, (db) => keepConsentWording(db, { ...old, purpose: 'guide', now: Date.now() }));
  await openOldTab(page, old);
  await visitor.askForCode();
  await reloadToday(page);
  await expect(page.getByText(/^Resend in \d+ seconds$/)).toBeVisible();
  await page.clock.fastForward(60_000);
  const sent = page.waitForRequest('**/api/leads');
  await page.getByRole('button', { name: 'Resend Code' }).click();
  expect((await sent).headers()[CONSENT_VERSION_HEADER]).toBe(old.version);
  await expect(visitor.toast).toContainText('Success!');
  await visitor.openArticle();
  expect(await receiptsOf(site, visitor.email)).toEqual([old.text]);
});

test('typed text survives a reload until the code is entered', async ({ page, visitor, context, site }) => {
  await visitor.startAtFilledForm();
  await page.reload();
  await expect(page.getByLabel('Work Email *')).toHaveValue(visitor.email);
  await expect(page.getByRole('checkbox')).not.toBeChecked();
  const other = createVisitor(await context.newPage(), site);
  await other.startAtForm();
  await expect(other.page.getByLabel('Work Email *')).toHaveValue('');

  const kept = () =>
    page.evaluate(() =>
      JSON.stringify([
        Object.entries(sessionStorage).filter(([key]) => key !== 'shown-stage'),
        Object.entries(localStorage),
      ]),
    );
  expect(await kept()).toContain(visitor.email);
  await page.getByRole('checkbox').check();
  await visitor.sendFilledForm();
  await page.reload();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
  await expect(page.getByRole('checkbox')).not.toBeChecked();
  await page.goBack();
  await visitor.openArticle();
  expect(await kept()).toBe('[[],[]]');

  await page.goBack();
  await page.getByLabel('Company Name *').fill('Engines Ltd');
  expect(await kept()).toContain('Engines Ltd');
  await page.goForward();
  await page.getByRole('button', { name: 'Back' }).click();
  expect(await kept()).toBe('[[],[]]');
});
