import type { Page } from '@playwright/test';

import { consentVersion } from '#server/campaign/campaign.ts';
import { CONSENT_VERSION_HEADER } from '#shared/api.ts';
import { ownFieldsCampaign } from '#testing/other-campaigns.ts';
import { expectNoViolations } from './axe.ts';
import { expect, overflow, resize, test } from './fixtures.ts';

// A second worker would start another site.
test.describe.configure({ mode: 'default' });
test.use({ siteOptions: { campaign: ownFieldsCampaign() } });

const LABELS = [
  'Job title *',
  'Phone',
  'Cold emails a week',
  'Your website',
  'What would you like to achieve?',
];
const TEAM = 'How many of you write cold emails? *';
const TOPICS = 'What should we write about?';
const NEWS_VERSION = consentVersion(
  'Also send me news about new guides, as the news policy (https://example.com/news) says.',
);

const newsBox = (page: Page) =>
  page.getByRole('checkbox', { name: /^Also send me news about new guides, as the news policy/ });

const keysOfTab = (page: Page) => page.evaluate(() => Object.keys(sessionStorage));

test('answers to every kind of custom question, and the tick for news, survive reload, resend and verification', async ({
  page,
  visitor,
}) => {
  test.slow();
  const bodies: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/leads')) bodies.push(request.postDataJSON());
  });
  await page.goto('/');
  await visitor.openForm();
  await page.getByLabel('Full Name *').fill('Ada Lovelace');
  await page.getByLabel('Company Name *').fill('Analytical Engines');
  await page.getByLabel('Work Email *').fill(visitor.email);
  await page.getByRole('checkbox', { name: /^I agree/ }).check();
  await expect(page.getByLabel('Phone', { exact: true })).toHaveAccessibleDescription(
    'Only if you would like us to call you.',
  );

  await visitor.sendForm();
  const jobTitle = page.getByLabel('Job title *');
  await expect(jobTitle).toBeFocused();
  await expect(jobTitle).toHaveAccessibleDescription('Please answer this question');
  await expect(page.getByLabel(TEAM)).toHaveAccessibleDescription('Please answer this question');
  await jobTitle.fill('Countess');
  await page.getByLabel('Phone', { exact: true }).fill('no');
  await page.getByLabel('Cold emails a week').fill('1,000');
  await page.getByLabel('Your website').fill('not an address');
  await page.getByLabel(TEAM).selectOption('2 to 5');
  await visitor.sendForm();
  await expect(page.getByLabel('Phone', { exact: true })).toBeFocused();
  await expect(page.getByLabel('Phone', { exact: true })).toHaveAccessibleDescription(
    /^Only if you would like us to call you\. Please enter a valid telephone number, such as \+44/,
  );
  await expect(page.getByLabel('Cold emails a week')).toHaveAccessibleDescription(
    'Please enter a number in digits, such as 1500',
  );
  await expect(page.getByLabel('Your website')).toHaveAccessibleDescription(
    /^Please enter a valid web address/,
  );
  await page.getByLabel('Phone', { exact: true }).fill('+44 20 7946 0018');
  await page.getByLabel('Cold emails a week').fill('1000');
  await page.getByLabel('Your website').fill('example.com');
  const topics = page.getByRole('group', { name: TOPICS });
  await expect(topics).toHaveAccessibleDescription('Choose as many as you like.');
  await topics.getByLabel('Buyer personas').check();
  await topics.getByLabel('Prompts').check();
  await page.getByLabel('What would you like to achieve?').fill('More answers.\nLess work.');
  await newsBox(page).check();

  // Under a path, the key would contain it (web/site-path.ts).
  expect(await keysOfTab(page)).toEqual(['lead-draft']);
  await page.reload();
  await expect(page.getByLabel('Job title *')).toHaveValue('Countess');
  await expect(page.getByLabel(TEAM)).toHaveValue('2 to 5');
  await expect(topics.getByRole('checkbox', { checked: true })).toHaveCount(2);
  await expect(newsBox(page)).toBeChecked();
  await page.getByRole('checkbox', { name: /^I agree/ }).check();
  await visitor.sendForm();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  const sent = {
    name: 'Ada Lovelace',
    company: 'Analytical Engines',
    email: visitor.email,
    consent: true,
    newsConsentVersion: NEWS_VERSION,
    answers: {
      job_title: 'Countess',
      phone: '+44 20 7946 0018',
      emails_a_week: '1000',
      website_address: 'https://example.com',
      team_size: '2 to 5',
      topics: ['Prompts', 'Buyer personas'],
      goal: 'More answers.\nLess work.',
    },
  };
  expect(bodies).toEqual([sent]);

  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(page.getByLabel('Work Email *')).toBeFocused();
  await expect(page.getByLabel('Your website')).toHaveValue('https://example.com');
  await expect(page.getByLabel('What would you like to achieve?')).toHaveValue('More answers.\nLess work.');
  await page.getByRole('checkbox', { name: /^I agree/ }).check();
  await visitor.sendForm();
  await expect(page.getByRole('heading', { name: 'Verify Your Email' })).toBeVisible();
  expect(bodies).toEqual([sent, sent]);

  await visitor.enterCode(await visitor.mailedCode());
  await expect(page.getByRole('article')).toBeVisible();
  expect(await keysOfTab(page)).toEqual(['shown-stage']);
});

test('the form with custom questions passes axe and fits at 320 px', async ({ page, visitor }) => {
  test.slow();
  await page.goto('/');
  await visitor.openForm();
  await visitor.sendForm();
  for (const label of LABELS) await expect(page.getByLabel(label, { exact: true })).toBeVisible();
  for (const width of [320, 768, 1440]) {
    await resize(page, { width, height: 800 });
    await expectNoViolations(page, `${width} px`);
    expect(await overflow(page), `${width} px`).toBe(0);
  }
});

test('a link in the consent sentence opens in a new tab, and its target is part of the accepted wording', async ({
  page,
  visitor,
}) => {
  await page.context().route('https://example.com/**', (route) => route.fulfill({ body: 'Privacy' }));
  await visitor.startAtForm();
  await page.getByLabel('Full Name *').fill('Ada Lovelace');
  await page.getByLabel('Company Name *').fill('Analytical Engines');
  await page.getByLabel('Work Email *').fill(visitor.email);
  const consent = page.getByRole('checkbox', { name: /^I agree to receive emails, as the privacy policy/ });
  await consent.check();
  await page.getByLabel('Job title *').fill('Countess');
  await page.getByLabel(TEAM).selectOption({ index: 1 });
  const opened = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'privacy policy (opens in a new tab)' }).click();
  await expect(await opened).toHaveURL('https://example.com/privacy');
  await expect(consent).toBeChecked();
  const sent = page.waitForRequest('**/api/leads');
  await visitor.sendForm();
  expect((await sent).headers()[CONSENT_VERSION_HEADER]).toBe(
    consentVersion(
      'I agree to receive emails, as the privacy policy (https://example.com/privacy) says. You can unsubscribe anytime.',
    ),
  );
  await expect(visitor.codeScreen).toBeVisible();
});

test('the box for news is optional, works by keyboard, and loses its tick when its sentence changes', async ({
  page,
  visitor,
}) => {
  await visitor.startAtForm();
  const news = newsBox(page);
  await expect(news).not.toBeChecked();
  await expect(news).not.toHaveAttribute('required');
  await page.getByRole('link', { name: 'privacy policy (opens in a new tab)' }).focus();
  await page.keyboard.press('Tab');
  await expect(news).toBeFocused();
  await page.keyboard.press('Space');
  await expect(news).toBeChecked();

  await page.evaluate(() => {
    const draft = JSON.parse(sessionStorage.getItem('lead-draft')!) as object;
    const earlier = { ...draft, name: 'Ada Lovelace', newsConsentVersion: '0123456789ab' };
    sessionStorage.setItem('lead-draft', JSON.stringify(earlier));
  });
  await page.reload();
  await expect(page.getByLabel('Full Name *')).toHaveValue('Ada Lovelace');
  await expect(news).not.toBeChecked();
});
