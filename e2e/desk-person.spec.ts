import type { Page } from '@playwright/test';

import { consentVersion } from '#server/campaign/campaign.ts';
import { expectFitsTelephone, expectNoViolations } from './axe.ts';
import { becomeLead, changingTest, expect, KEPT_LEAD, PEOPLE } from './desk-fixtures.ts';
import { fulfillNext, hold } from './fixtures.ts';

let people = 0;

type Fixtures = {
  /** Opens the page of a new lead, and returns the lead's e-mail address. */
  readonly openNewLead: (who?: 'all' | 'read') => Promise<string>;
};

const test = changingTest.extend<Fixtures>({
  openNewLead: async ({ page, desk, open }, use) =>
    use(async (who = 'all') => {
      people += 1;
      const email = `grace-${people}@compilers.example`;
      await becomeLead(desk.site, { ...KEPT_LEAD, email });
      await open(`/leads?search=${email}`, who);
      await page.getByRole('link', { name: KEPT_LEAD.name }).click();
      await expect(page.getByRole('heading', { name: KEPT_LEAD.name, level: 1 })).toBeVisible();
      return email;
    }),
});

const entry = (page: Page, what: string | RegExp) =>
  page.getByRole('region', { name: 'Timeline' }).getByRole('listitem').filter({ hasText: what });

test("a correction appears in the timeline of the contact's page", async ({ page, openNewLead }) => {
  const email = await openNewLead();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await expect(page.getByText(email).first()).toBeVisible();
  await expect(entry(page, 'Became a lead')).toBeVisible();
  const asked = entry(page, 'Asked for a code');
  await expect(asked).toContainText('newsletter');
  await expect(asked.getByText('Address as typed')).toBeHidden();
  await asked.getByText('Details').click();
  await expect(asked.getByText('Address as typed')).toBeVisible();
  await expect(entry(page, /^Mail sent/).first()).toBeVisible();
  await expectNoViolations(page, 'a person');
  await expectFitsTelephone(page, 'a person');

  await page.getByRole('button', { name: 'Correct' }).click();
  const dialog = page.getByRole('dialog', { name: 'Correct the answers' });
  await expect(dialog.getByRole('button', { name: 'Save' })).toBeDisabled();
  await dialog.getByLabel('Full name').fill('G');
  await page.mouse.click(5, 5);
  await expect(dialog.getByLabel('Full name'), 'a click outside keeps the typed text').toHaveValue('G');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toContainText('at least 2 characters');
  await expectNoViolations(page, 'a correction');
  await dialog.getByLabel('Full name').fill('Grace <b>Brewster</b> Hopper');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(page.getByText('The answers were corrected.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Correct' })).toBeFocused();
  await expect(page.getByRole('heading', { name: 'Grace <b>Brewster</b> Hopper', level: 1 })).toBeVisible();
  await expect(entry(page, 'Was corrected by the operator')).toContainText(
    'Grace Hopper → Grace <b>Brewster</b> Hopper',
  );
});

test("a contact's page opens the proof and sends the guide again", async ({ page, desk, openNewLead }) => {
  const email = await openNewLead();
  const [proof] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Proof to print' }).click(),
  ]);
  const heading = proof.getByRole('heading', { level: 1 });
  await expect(heading).toBeVisible();
  await expect(heading, 'its styles apply').toHaveCSS('font-size', '30.4px');
  await expect(proof.getByRole('img', { name: 'A seal drawn from the hash of this entry' })).toBeVisible();
  await proof.close();
  await desk.site.inbox.waitForMail(email, 2);
  await page.getByRole('button', { name: 'Send the guide again' }).click();
  await expectNoViolations(page, 'sending the guide again');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Send' }).click();
  await expect(page.getByText('The guide is queued.')).toBeVisible();
  await desk.site.inbox.waitForMail(email, 3);
});

test('stopped mail to a contact resumes if no other reason stops it', async ({ page, desk, openNewLead }) => {
  const email = await openNewLead();
  // The guide's mail must have left before mail to the address is stopped.
  const { parsed } = await desk.site.inbox.waitForMail(email, 2);
  const stop = page.getByRole('button', { name: 'Stop mail' });
  const dialogue = page.getByRole('alertdialog');
  const stopped = page.getByRole('region', { name: /^Gets no mail/ });
  await stop.click();
  await expect(dialogue).toBeVisible();
  await expectNoViolations(page, 'stopping mail');
  await page.keyboard.press('Escape');
  await expect(stop).toBeFocused();
  await stop.click();
  await dialogue.getByLabel('Note').fill('asked by telephone');
  const sent = page.waitForRequest('**/api/person/suppress');
  await dialogue.getByRole('button', { name: 'Stop mail' }).click();
  await expect(page.getByText('This address will get no more mail.')).toBeVisible();
  await expect(stopped).toContainText('Stopped by hand');
  await expect(stopped).toContainText('asked by telephone');
  await expect(page.getByRole('button', { name: 'Send the guide again' })).toBeHidden();
  await expectNoViolations(page, 'a person who gets no mail');
  await expectFitsTelephone(page, 'a person who gets no mail');

  const undo = async () => {
    await stopped.getByRole('button', { name: 'Undo' }).click();
    const question = page.getByRole('alertdialog', { name: `Mail ${email} again?` });
    await expect(question.getByRole('button', { name: 'Mail again' })).toBeDisabled();
    await question.getByLabel('Why mail may be sent again').fill('meant another Grace');
    await question.getByRole('button', { name: 'Mail again' }).click();
  };
  await undo();
  await expect(page.getByText('This address can get mail again.')).toBeVisible();
  await expect(stopped).toBeHidden();
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await expect(entry(page, 'Had a suppression removed')).toBeVisible();

  await stop.click();
  // As from another tab.
  await page.request.fetch(await sent);
  await dialogue.getByRole('button', { name: 'Stop mail' }).click();
  await expect(dialogue.getByRole('alert')).toHaveText(`${email} was already suppressed for that reason.`);
  await page.keyboard.press('Escape');
  await expect(stopped).toContainText('Stopped by hand');
  await expect(stop).toBeVisible();
  const oneClick = parsed.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
  const { pathname, search } = new URL(/<([^>]+)>/.exec(oneClick)?.[1] ?? '');
  await page.request.post(desk.site.url + pathname + search, { form: { 'List-Unsubscribe': 'One-Click' } });
  await page.reload();
  await expect(stopped.getByRole('listitem')).toHaveCount(2);
  await expect(stop).toBeHidden();
  await undo();
  await expect(
    page.getByText('This suppression was lifted, but the address still gets no mail for other reasons.'),
  ).toBeVisible();
  await expect(stopped.getByRole('listitem')).toHaveCount(1);
});

test('a contact is erased everywhere after the e-mail address is typed', async ({ page, openNewLead }) => {
  const email = await openNewLead();
  const address = page.url();
  await page.getByRole('button', { name: 'Erase' }).click();
  const erase = page.getByRole('alertdialog', { name: `Erase ${email}?` });
  await expect(erase).toContainText('It cannot be undone');
  await expect(erase).toContainText('backups still contain the person’s data');
  const field = erase.getByLabel(`Type ${email} to confirm`);
  await field.fill('other@compilers.example');
  await field.blur();
  await expect(field).toHaveAccessibleDescription('This is not the person’s e-mail address.');
  await expect(erase.getByRole('button', { name: 'Erase permanently' })).toBeDisabled();
  await expectNoViolations(page, 'erasing');
  await field.fill(` ${email.toUpperCase()}`);

  const release = await hold(page, '**/api/person/erase');
  await erase.getByRole('button', { name: 'Erase permanently' }).click();
  await expect(erase.getByRole('button', { name: 'Working' })).toBeVisible();
  await expect(erase.getByRole('button', { name: 'Cancel' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await expect(erase).toBeVisible();
  release();

  await expect(page).toHaveURL('/leads');
  await expect(page.getByText(/^Erased: 1 lead/)).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Leads', level: 1 })).toBeFocused();
  await page.goto(address);
  await expect(page.getByRole('heading', { name: 'Person not found' })).toBeVisible();
  await expectNoViolations(page, 'a person who is not here');
});

test('the result of an erasure stays visible if data remains', async ({ page, openNewLead }) => {
  const email = await openNewLead();
  const erased = 'Erased: 1 lead. At a quiet time, run: npm run -s desk -- compact';
  await fulfillNext(page, '**/api/person/erase', { json: { erased, hasRemains: true } });
  await page.clock.install();
  await page.getByRole('button', { name: 'Erase' }).click();
  await page.getByLabel(`Type ${email} to confirm`).fill(email);
  await page.getByRole('button', { name: 'Erase permanently' }).click();
  await expect(page.getByText(erased)).toBeVisible();
  await page.clock.runFor(10_000);
  await expect(page.getByText(erased)).toBeVisible();
});

test('a read-only desk user sees no actions and is named in the log', async ({ page, open, openNewLead }) => {
  const email = await openNewLead('read');
  await expect(entry(page, 'Became a lead')).toBeVisible();
  await expect(
    page.getByRole('main').getByRole('button', { name: /Correct|Send|Stop|Undo|Erase/ }),
  ).toHaveCount(0);
  await page.goto('/leads');
  await expect(page.getByRole('button', { name: 'Columns' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Export' })).toBeHidden();
  await page.goto('/log');
  await expect(page.getByRole('heading', { name: 'This page does not exist' })).toBeVisible();

  await open('/log');
  const newest = page
    .getByRole('table', { name: 'Audit log' })
    .getByRole('row')
    .filter({ hasText: email })
    .first();
  await expect(newest).toContainText(PEOPLE.read);
  await expect(newest).toContainText('Viewed');
  await expectFitsTelephone(page, 'the log', 'Audit log');
});

test('a desk user corrects a chosen answer by choosing another one', async ({ page, openNewLead }) => {
  await openNewLead();
  await page.getByRole('button', { name: 'Correct' }).click();
  const dialog = page.getByRole('dialog', { name: 'Correct the answers' });
  await expect(dialog.getByLabel('Job title')).toHaveValue('Rear admiral');
  const teamSize = dialog.getByLabel('How many of you write cold emails?');
  await expect(teamSize.getByRole('option')).toHaveText([
    'No answer',
    'Only me',
    '2 to 5',
    '6 to 20',
    'More than 20',
  ]);
  await teamSize.selectOption('6 to 20');
  const topics = dialog.getByRole('group', { name: 'What should we write about?' });
  await expect(topics.getByLabel('Prompts')).toBeChecked();
  await topics.getByLabel('Deliverability').check();
  await expectNoViolations(page, 'choices that are corrected');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The answers were corrected.')).toBeVisible();
  const corrected = entry(page, 'Was corrected');
  await expect(corrected).toContainText('Only me → 6 to 20');
  await expect(corrected).toContainText('Prompts → Prompts; Deliverability');
});

test('the desk finds leads who agreed to get news, and shows the sentence', async ({ page, desk, open }) => {
  const NEWS = 'Also send me news about new guides, as the news policy (https://example.com/news) says.';
  const email = 'newsreader@compilers.example';
  await becomeLead(desk.site, { ...KEPT_LEAD, email, newsConsentVersion: consentVersion(NEWS) });
  await open(`/leads?source=${KEPT_LEAD.source}`);
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('News').selectOption('Agreed to get news');
  await expect(page.getByRole('status').filter({ hasText: '1 person' })).toBeVisible();
  await page.getByRole('link', { name: KEPT_LEAD.name }).click();
  await expect(page.getByText(email).first()).toBeVisible();
  const consent = page.getByRole('region', { name: 'Consent' });
  await expect(consent.getByRole('heading', { name: 'News' })).toBeVisible();
  await expect(consent.getByText(NEWS)).toBeVisible();
  await expectNoViolations(page, 'both consents');
});
