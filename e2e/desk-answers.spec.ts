import { consentVersion } from '#server/campaign/campaign.ts';
import { expectNoViolations } from './axe.ts';
import { becomeLead, changingTest as test, expect, KEPT_LEAD } from './desk-fixtures.ts';

test('a desk user corrects a chosen answer by choosing another one', async ({ page, desk, open }) => {
  const email = 'chooser@compilers.example';
  await becomeLead(desk.site, { ...KEPT_LEAD, email });
  await open(`/leads?search=${email}`);
  await page.getByRole('link', { name: KEPT_LEAD.name }).click();
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
  await expect(dialog.getByText('Now: Prompts')).toBeVisible();
  await expectNoViolations(page, 'choices that are corrected');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The answers were corrected.')).toBeVisible();
  const story = page.getByRole('region', { name: 'Timeline' });
  const corrected = story.getByRole('listitem').filter({ hasText: 'Was corrected' });
  await expect(corrected).toContainText('Only me → 6 to 20');
  await expect(corrected).toContainText('Prompts → Prompts; Deliverability');
});

test('the desk finds leads who agreed to get news, and shows the sentence', async ({ page, desk, open }) => {
  const NEWS = 'Also send me news about new guides, as the news policy (https://example.com/news) says.';
  const email = 'newsreader@compilers.example';
  await becomeLead(desk.site, { ...KEPT_LEAD, email, newsConsentVersion: consentVersion(NEWS) });
  await open('/leads');
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
