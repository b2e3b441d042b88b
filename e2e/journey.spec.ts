import { expect, runDesk, test } from './fixtures.ts';

test.use({ reducedMotion: 'no-preference' });

test('a visitor sends the form, pastes the code and reads the article', async ({ page, visitor, site }) => {
  await page.goto(`${site.url}/?utm_source=newsletter&gclid=click-1&session=secret`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Master AI-Powered Cold Outreach');
  expect((await page.request.get(`${site.url}/api/article`)).status()).toBe(401);

  await visitor.openForm();
  await page.goto(`${site.url}/?utm_source=partner`);
  await visitor.askForCode();
  await expect(visitor.toast).toContainText('Success!');
  await expect(visitor.toast).toContainText('Please check your email for the verification code.');
  await expect(page.getByText(visitor.email)).toBeVisible();

  const mail = await site.inbox.waitForMail(visitor.email);
  const reference = /reference ([A-Z]{3})/.exec(mail.parsed.text ?? '')?.[1];
  await expect(page.getByText(`reference ${reference}`)).toBeVisible();
  await visitor.paste(await visitor.mailedCode());
  await expect(visitor.toast).toContainText('Verified!');
  await expect(visitor.toast).toContainText('Access granted. Enjoy the content!');
  await expect(visitor.article).toContainText(
    'Response rate = ICP accuracy + deliverability + content/value + offer strength',
  );

  await page.getByRole('button', { name: 'Back' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Master AI-Powered Cold Outreach');
  await visitor.openForm();
  for (const label of ['Full Name *', 'Company Name *', 'Work Email *']) {
    await expect(page.getByLabel(label)).toHaveValue('');
  }
  await expect(page.getByRole('checkbox')).not.toBeChecked();
  expect(site.inbox.mailsTo(visitor.email)).toHaveLength(1);

  await test.step('the desk exports the lead with the first and the last touch of the visit', () => {
    const leads = runDesk(site, 'leads', '--json', '--source', 'partner');
    expect(JSON.parse(leads)).toMatchObject([
      {
        email: visitor.email,
        source: 'partner',
        attribution: { utm_source: 'partner', first: { utm_source: 'newsletter', gclid: 'click-1' } },
      },
    ]);
    expect(leads).not.toContain('secret');
  });
  expect(site.output()).not.toContain(visitor.email);
});
