import type { Page } from '@playwright/test';

import { consentVersion } from '#server/campaign/campaign.ts';
import { CONSENT_VERSION_HEADER } from '#shared/api.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { expectNoViolations } from './axe.ts';
import { changingTest as test } from './desk-fixtures.ts';
import { bodiesOf, createVisitor, expect, overflow, requestsTo, resize } from './fixtures.ts';

const NEWS_VERSION = consentVersion(
  'Also send me news about new guides, as the news policy (https://example.com/news) says.',
);

const keysOfTab = (page: Page) => page.evaluate(() => Object.keys(sessionStorage));

test('every kind of answer and the news tick survive reload and resend', async ({ page, desk: { site } }) => {
  test.slow();
  const visitor = createVisitor(page, site);
  const forms = requestsTo(page, '/api/leads');
  await visitor.startAtForm();
  const consent = page.getByRole('checkbox', { name: /^I agree to receive emails, as the privacy policy/ });
  const link = page.getByRole('link', { name: 'privacy policy (opens in a new tab)' });
  const news = page.getByRole('checkbox', {
    name: /^Also send me news about new guides, as the news policy/,
  });
  const jobTitle = page.getByLabel('Job title *', { exact: true });
  const phone = page.getByLabel('Phone', { exact: true });
  const emailsAWeek = page.getByLabel('Cold emails a week', { exact: true });
  const website = page.getByLabel('Your website', { exact: true });
  const goal = page.getByLabel('What would you like to achieve?', { exact: true });
  const team = page.getByLabel('How many of you write cold emails? *');
  const topics = page.getByRole('group', { name: 'What should we write about?' });

  await test.step('the form with all errors passes axe and fits at 320 px', async () => {
    await visitor.sendForm();
    for (const field of [jobTitle, phone, emailsAWeek, website, goal]) await expect(field).toBeVisible();
    for (const width of [1280, 768, 320]) {
      await resize(page, { width, height: 800 });
      expect(await overflow(page), `${width} px`).toBe(0);
    }
    await expectNoViolations(page, 'form with errors');
    await resize(page, { width: 1280, height: 800 });
  });

  await test.step('the box for news is optional, and loses its tick when its sentence changes', async () => {
    await expect(news).not.toBeChecked();
    await expect(news).not.toHaveAttribute('required');
    await link.focus();
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

  await page.getByLabel('Company Name *').fill('Analytical Engines');
  await page.getByLabel('Work Email *').fill(visitor.email);
  await consent.check();
  await test.step('a link in the consent sentence opens in a new tab', async () => {
    await page.context().route('https://example.com/**', (route) => route.fulfill({ body: 'Privacy' }));
    const opened = page.waitForEvent('popup');
    await link.click();
    await expect(await opened).toHaveURL('https://example.com/privacy');
    await (await opened).close();
    await expect(consent).toBeChecked();
  });
  await expect(phone).toHaveAccessibleDescription('Only if you would like us to call you.');
  await page.evaluate(() => (document.documentElement.dir = 'rtl'));
  for (const field of [phone, emailsAWeek, website]) await expect(field).toHaveCSS('direction', 'ltr');
  await page.evaluate(() => document.documentElement.removeAttribute('dir'));

  await visitor.sendForm();
  await expect(jobTitle).toBeFocused();
  await expect(jobTitle).toHaveAccessibleDescription('Please answer this question');
  await expect(team).toHaveAccessibleDescription('Please answer this question');
  await jobTitle.fill('Countess');
  await phone.fill('no');
  await emailsAWeek.fill('1,000');
  await website.fill('not an address');
  // As a translation tool does.
  await team.evaluate((select: HTMLSelectElement) => {
    for (const option of select.options) option.text = `«${option.text}»`;
  });
  await team.selectOption({ label: '«2 to 5»' });
  await expect(team).toHaveValue('2 to 5');
  await visitor.sendForm();
  await expect(phone).toBeFocused();
  await expect(phone).toHaveAccessibleDescription(
    /^Only if you would like us to call you\. Please enter a valid telephone number, such as \+44/,
  );
  await expect(emailsAWeek).toHaveAccessibleDescription('Please enter a number in digits, such as 1500');
  await expect(website).toHaveAccessibleDescription(/^Please enter a valid web address/);
  await phone.fill('+44 20 7946 0018');
  await emailsAWeek.fill('1000');
  await website.fill('example.com');
  await expect(topics).toHaveAccessibleDescription('Choose as many as you like.');
  await topics.getByLabel('Buyer personas').check();
  await topics.getByLabel('Prompts').check();
  await goal.fill('More answers.\nLess work.');
  await news.check();

  // Under a path, the key would contain it (web/site-path.ts).
  expect(await keysOfTab(page)).toEqual(['lead-draft']);
  await page.reload();
  await expect(jobTitle).toHaveValue('Countess');
  await expect(team).toHaveValue('2 to 5');
  await expect(topics.getByRole('checkbox', { checked: true })).toHaveCount(2);
  await expect(news).toBeChecked();
  await consent.check();
  await visitor.sendFilledForm();
  const sent = filledForm({
    email: visitor.email,
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
  });
  expect(bodiesOf(forms)).toEqual([sent]);
  expect(forms[0]?.headers()[CONSENT_VERSION_HEADER], 'the link is part of the accepted wording').toBe(
    consentVersion(
      'I agree to receive emails, as the privacy policy (https://example.com/privacy) says. You can unsubscribe anytime.',
    ),
  );

  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await expect(page.getByText(visitor.email)).toBeVisible();
  await page.getByRole('button', { name: 'Wrong address?' }).click();
  await expect(page.getByLabel('Work Email *')).toBeFocused();
  await expect(website).toHaveValue('https://example.com');
  await expect(goal).toHaveValue('More answers.\nLess work.');
  await consent.check();
  await visitor.sendFilledForm();
  expect(bodiesOf(forms)).toEqual([sent, sent]);

  await visitor.openArticle();
  expect(await keysOfTab(page)).toEqual(['shown-stage']);
});
