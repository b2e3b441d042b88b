import type { PersonDetails } from '#desk/endpoints/people.ts';
import { expectFitsTelephone, expectNoViolations } from './axe.ts';
import { expect, LEADS, test } from './desk-fixtures.ts';
import { fulfillNext, download, hold } from './fixtures.ts';

const NEWEST_FIRST = LEADS.map(({ name }) => name).toReversed();

test('a desk list can be reloaded, and its URL contains the filters', async ({ page, open }) => {
  let fails = true;
  await page.route('**/api/people?*', (route) => (fails ? route.abort() : route.fallback()));
  await open('/leads');
  const names = page.getByRole('rowheader');
  await expect(page.getByRole('alert')).toContainText('The server could not be reached.');
  await expectNoViolations(page, 'a failed list');
  fails = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(names).toHaveText(NEWEST_FIRST);
  await expect(page.getByText('3 people.')).toBeVisible();
  await page.getByLabel('Source').selectOption('newsletter');
  await expect(page).toHaveURL('/leads?source=newsletter');
  await expect(names).toHaveText(['Grace Hopper', 'Ada Lovelace']);
  await page.getByLabel('Search').fill('engines');
  await expect(names).toHaveText(['Ada Lovelace']);
  await expect(page).toHaveURL('/leads?search=engines&source=newsletter');
  await page.reload();
  await expect(names).toHaveText(['Ada Lovelace']);
  await expect(page.getByLabel('Search')).toHaveValue('engines');
  await page.getByLabel('Search').fill('nobody at all');
  await expect(page.getByText('Nobody matches this filter')).toBeVisible();
  await expectNoViolations(page, 'nobody found');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect(names).toHaveText(NEWEST_FIRST);
  await expect(page).toHaveURL('/leads');
  await page.goBack();
  await expect(page.getByLabel('Search')).toHaveValue('nobody at all');
  await page.goto('/leads');
  await expectFitsTelephone(page, 'leads', 'Leads');
});

test('columns of the desk list can be chosen by keyboard and are remembered', async ({ page, open }) => {
  await open('/leads');
  const headings = page.getByRole('columnheader');
  await expect(headings).toHaveText(['Name', 'E-mail', 'Company', 'Verified', 'Source']);
  await page.getByRole('button', { name: 'Columns' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('checkbox', { name: 'E-mail' })).toBeFocused();
  await expectNoViolations(page, 'columns');
  await page.keyboard.press('Space');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Columns' })).toBeFocused();
  const chosen = ['Name', 'Company', 'Verified', 'Source'];
  await expect(headings).toHaveText(chosen);
  await page.reload();
  await expect(headings).toHaveText(chosen);
});

test('an export contains the filtered contacts in the chosen format', async ({ page, open }) => {
  await open('/leads?source=newsletter');
  const opener = page.getByRole('button', { name: 'Export' });
  await opener.click();
  const dialogue = page.getByRole('dialog', { name: 'Export' });
  await expect(dialogue).toContainText(
    'The file contains only people who match the filter: Leads, source newsletter.',
  );
  const send = dialogue.getByRole('button', { name: /^Export / });
  await expect(send).toHaveText('Export 2 leads');
  await expectNoViolations(page, 'export');
  const file = await download(send);
  expect(file.name).toMatch(/\.csv$/);
  expect(file.text.trim().split(/\r?\n/)).toHaveLength(3);
  expect(file.text).toContain('ada@engines.example');
  expect(file.text).not.toContain('alan@bombe.example');
  await expect(page.getByText('The file is in your downloads.')).toBeVisible();
  await expect(dialogue).toBeHidden();

  const refusal = { status: 503, contentType: 'text/plain', body: 'The desk is busy. Try again later.' };
  await fulfillNext(page, '**/api/export?*', refusal);
  await opener.click();
  await send.click();
  await expect(dialogue.getByRole('alert')).toHaveText(refusal.body);

  await dialogue.getByRole('radio', { name: 'HubSpot' }).check();
  await dialogue.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('State').selectOption('Unverified people');
  await opener.click();
  await expect(dialogue.getByRole('radio', { name: 'HubSpot' })).toBeHidden();
  await expect(dialogue.getByRole('radio', { name: 'Spreadsheet' })).toBeChecked();
  expect((await download(send)).name).toMatch(/\.csv$/);

  await open('/leads?from=2025-01-01&to=2025-12-31');
  await opener.click();
  await expect(dialogue).toContainText('Leads, from 1 Jan 2025, to 31 Dec 2025.');
});

test('a lead\'s page links back to its filtered list, and "/" focuses the search', async ({ page, open }) => {
  await open('/leads?source=newsletter');
  await page.getByRole('cell', { name: 'Analytical Engines' }).click();
  await expect(page.getByRole('heading', { name: 'Ada Lovelace' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Next' })).toBeHidden();
  await page.keyboard.press('k');
  await expect(page.getByRole('heading', { name: 'Grace Hopper' })).toBeFocused();
  await expect(page.getByRole('link', { name: 'Previous' })).toBeHidden();
  await page.keyboard.press('j');
  await expect(page.getByRole('heading', { name: 'Ada Lovelace' })).toBeFocused();
  await page.getByRole('link', { name: '← Leads' }).click();
  await expect(page).toHaveURL('/leads?source=newsletter');
  await expect(page.getByRole('rowheader')).toHaveText(['Grace Hopper', 'Ada Lovelace']);
  await page.keyboard.press('/');
  await expect(page.getByLabel('Search')).toBeFocused();
  await page.keyboard.type('a/b');
  await expect(page.getByLabel('Search')).toHaveValue('a/b');
  await open('/mail');
  await expect(page.getByRole('heading', { name: 'Mail', level: 1 })).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.getByLabel('Search')).toBeFocused();
  await expect(page).toHaveURL('/leads');
  await open('/account');
  await page.getByRole('checkbox', { name: /^Press \/ to search/ }).uncheck();
  await page.getByRole('heading', { name: 'Account' }).focus();
  await page.keyboard.press('/');
  await expect(page).toHaveURL('/account');
});

test('a desk list continues while the server is searching and can be stopped', async ({ page, open }) => {
  let asked = 0;
  await page.route('**/api/people?*', async (route) => {
    asked += 1;
    await route.fulfill({
      json: { people: [], next: String(asked), searchedBackTo: '2026-03-04T05:06:00.000Z' },
    });
  });
  await open('/leads?search=rare');
  await expect(
    page.getByText(/^None found yet\. Searched back to 4 Mar 2026, \d\d:\d\d, still searching …$/),
  ).toBeVisible();
  await expect.poll(() => asked).toBeGreaterThan(3);
  await page.getByRole('button', { name: 'Stop searching' }).click();
  await expect(page.getByRole('button', { name: 'Search further back' })).toBeVisible();
  const when = asked;
  await page.evaluate(async () => {
    for (let answers = 0; answers < 5; answers += 1) await fetch('/api/me');
  });
  expect(asked).toBe(when);
  await page.unroute('**/api/people?*');
  await page.route('**/api/people?*', (route) =>
    route.fulfill({ json: { people: [], next: null, searchedBackTo: null } }),
  );
  await page.getByRole('button', { name: 'Search further back' }).click();
  await expect(page.getByText('Nobody matches this filter')).toBeVisible();
});

test('a company in the desk opens the list of its contacts', async ({ page, open }) => {
  await page.clock.install();
  await open('/companies');
  await expect(page.getByText('3 domains.')).toBeVisible();
  await expectNoViolations(page, 'companies');
  await expectFitsTelephone(page, 'companies');
  await page.getByLabel('Search for a domain').fill('bombe');
  await page.getByRole('link', { name: 'bombe.example' }).click();
  await expect(page).toHaveURL('/leads?domain=bombe.example');
  await expect(page.getByRole('heading', { name: 'Leads', level: 1 })).toBeFocused();
  await expect(page.getByRole('rowheader')).toHaveText(['Alan Turing']);
  await expect(page.getByLabel('Domain of the address')).toHaveValue('bombe.example');
  await expectFitsTelephone(page, 'leads of a domain');
  await page.clock.fastForward('01:00');
  const asked = page.waitForRequest('**/api/domains');
  await page.goBack();
  await asked;
  await expect(page.getByText('3 domains.')).toBeVisible();
});

test('a date filter of the desk applies once its date is complete', async ({ page, open }) => {
  await page.clock.install();
  await open('/leads');
  await expect(page.getByRole('rowheader')).toHaveText(NEWEST_FIRST);
  const asked: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/api/people') asked.push(searchParams.get('from'));
  });
  const entries = await page.evaluate(() => history.length);
  await page.getByRole('button', { name: 'More filters' }).click();
  await expect(page.getByText(/^First and last day are included\. Days in /)).toBeVisible();
  await expectNoViolations(page, 'leads');
  const from = page.getByLabel('From');
  await from.focus();
  for (const digit of '01112026') {
    await page.keyboard.type(digit);
    await page.clock.runFor(400);
  }
  await expect(page).toHaveURL('/leads?from=2026-01-11');
  expect(asked).toEqual(['2026-01-11']);
  expect(await page.evaluate(() => history.length)).toBe(entries);
  await page.reload();
  await expect(from).toHaveValue('2026-01-11');
});

test('the desk filters by the present day, even in a list opened before midnight', async ({ page, open }) => {
  const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  await page.clock.install({ time: `${day(1)}T23:59:30Z` });
  await open('/leads');
  await page.getByRole('button', { name: 'More filters' }).click();
  const today = page.getByRole('group', { name: 'Days' }).getByRole('button', { name: 'Today' });
  await today.click();
  await expect(page).toHaveURL(`/leads?from=${day(1)}&to=${day(1)}`);
  await expect(today).toHaveAttribute('aria-pressed', 'true');
  await page.clock.fastForward('01:00');
  await today.click();
  await expect(page).toHaveURL(`/leads?from=${day(0)}&to=${day(0)}`);
  await expect(today).toHaveAttribute('aria-pressed', 'true');
});

test('an empty desk list can be reloaded, and a loading one is not called empty', async ({ page, open }) => {
  await open('/leads?state=unverified');
  await expect(page.getByText('Everyone who asked for a code has entered it.')).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: '0 people.' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Refresh' })).toBeVisible();
  await expectNoViolations(page, 'an empty list');
  const release = await hold(page, '**/api/people?state=verified');
  await page.getByLabel('State').selectOption('Leads');
  await expect(page.getByText('Loading …')).toBeAttached();
  await expect(page.getByText('Leads appear here')).toBeHidden();
  release();
  await expect(page.getByRole('rowheader')).toHaveText(NEWEST_FIRST);
});

test("a contact's page leads to its neighbours even if the contact has a new ID", async ({ page, open }) => {
  await page.route('**/api/person?*', async (route) => {
    const response = await route.fetch();
    const details = (await response.json()) as PersonDetails;
    await route.fulfill({ json: { ...details, person: { ...details.person, id: 'of the new lead' } } });
  });
  await open('/leads');
  await page.getByRole('link', { name: 'Grace Hopper' }).click();
  await expect(page.getByRole('region', { name: 'Timeline' })).toBeVisible();
  await page.getByRole('link', { name: 'Next' }).click();
  await expect(page.getByRole('heading', { name: 'Ada Lovelace' })).toBeVisible();
});

test("a contact's page says that it could not be reloaded", async ({ page, open }) => {
  await page.clock.install();
  await open('/leads');
  const heading = page.getByRole('heading', { name: 'Ada Lovelace' });
  await page.getByRole('link', { name: 'Ada Lovelace' }).click();
  await expect(heading).toBeVisible();
  await page.getByRole('link', { name: '← Leads' }).click();
  await page.clock.fastForward('01:00');
  await page.route('**/api/person?*', (route) => route.abort());
  await page.getByRole('link', { name: 'Ada Lovelace' }).click();
  await expect(page.getByRole('alert')).toContainText('The server could not be reached.');
  await expect(heading).toBeVisible();
  await page.unroute('**/api/person?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('alert')).toBeHidden();
});
