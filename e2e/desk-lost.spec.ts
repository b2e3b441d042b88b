import type { Answer } from '#desk/endpoints/endpoint.ts';
import type { lost, Lost } from '#desk/endpoints/people.ts';
import { expectNoViolations } from './axe.ts';
import { changingTest as test, expect, LOST } from './desk-fixtures.ts';
import { answerNext, resize } from './fixtures.ts';

const rows = 'rowheader';

test('lost leads are grouped by reason, and the URL contains the choice', async ({ page, open }) => {
  await expect(async () => {
    await open('/lost');
    await expect(page.getByText('5.1.1 Recipient address rejected: User unknown')).toBeVisible();
    await expect(page.getByText('4.7.1 Greylisted, try again later')).toHaveCount(2);
  }).toPass();
  await expect(page.getByRole(rows)).toHaveCount(LOST.length);
  await expect(page.getByText('3 people.')).toBeVisible();
  const why = page.getByRole('group', { name: 'Why' });
  await expect(why.getByRole('button', { name: 'All' })).toHaveAttribute('aria-pressed', 'true');
  await why.getByRole('button', { name: /^E-mail is still queued 2/ }).click();
  await expect(page).toHaveURL('/lost?why=E-mail+is+still+queued');
  await expect(page.getByText('2 of 3 people.')).toBeVisible();
  await page
    .getByRole('group', { name: 'Source' })
    .getByRole('button', { name: /^partner 1/ })
    .click();
  await expect(page.getByRole(rows)).toHaveText(/Jonas Lind/);
  await page.reload();
  await expect(page.getByRole(rows)).toHaveText(/Jonas Lind/);
  await page.getByRole('link', { name: 'Jonas Lind' }).click();
  await expect(page.getByRole('heading', { name: 'Jonas Lind', level: 1 })).toBeVisible();
  await expect(page.getByText('Not verified')).toBeVisible();
  await page.goBack();
  await expect(page.getByRole(rows)).toHaveText(/Jonas Lind/);
});

test('lost leads of other days can be shown, and every state passes axe in both themes', async ({
  page,
  open,
}) => {
  test.slow();
  await open('/lost');
  await expect(page.getByRole(rows).first()).toBeVisible();
  await page.getByRole('button', { name: 'Other days' }).click();
  await expectNoViolations(page, 'lost leads');
  await page.getByLabel('From').fill('2026-01-08');
  await page.getByLabel('To').fill('2026-01-01');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  // The days were entered in the wrong order.
  await expect(page).toHaveURL('/lost?from=2026-01-01&to=2026-01-08');
  await expect(page.getByText('Nobody was lost')).toBeVisible();
  await expectNoViolations(page, 'no one was lost');
  await page.getByRole('button', { name: 'Last 30 days' }).click();
  await expect(page).toHaveURL('/lost?days=30');
  await expect(page.getByRole(rows).first()).toBeVisible();
  await open('/lost?why=nothing');
  await expect(page.getByRole('button', { name: 'Clear the filters' })).toBeVisible();
  await expectNoViolations(page, 'no one fits');
  await answerNext(page, '**/api/lost?*', null);
  await open('/lost');
  await expect(page.getByRole('alert')).toBeVisible();
  await expectNoViolations(page, 'lost leads that could not be read');
  await resize(page, { width: 375, height: 812 });
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('list', { name: 'People who entered no code' })).toBeVisible();
  await expectNoViolations(page, 'lost leads on a telephone');
});

test('the lost leads are only said to be complete after every page was read', async ({ page, open }) => {
  const mireille: Lost = {
    id: null,
    askedAt: '2026-11-23T06:00:00.000Z',
    email: 'mireille@refused.example',
    name: 'Mireille Faure',
    company: 'Globex',
    source: 'newsletter',
    platform: 'other',
    reason: 'refused',
    why: 'Refused by the mail server',
    reply: null,
    codes: 1,
    wrongTries: 0,
  };
  for (const { path, people, partly, complete } of [
    { path: '/lost', people: [], partly: '0 people so far.', complete: 'Nobody was lost' },
    { path: '/lost', people: [mireille], partly: '1 person so far.', complete: '1 person.' },
    {
      path: '/lost?why=nothing',
      people: [mireille],
      partly: '0 of 1 person so far.',
      complete: 'Nobody matches these filters',
    },
  ]) {
    const [first, last]: readonly Answer<typeof lost>[] = [
      { lost: people, open: 0, next: 'last' },
      { lost: [], open: 0, next: null },
    ];
    await page.route('**/api/lost?*after=last', (route) => route.fulfill({ json: last }));
    await answerNext(page, '**/api/lost?*after=last', null);
    await answerNext(page, '**/api/lost?*', { json: first });
    await open(path);
    await expect(page.getByRole('alert')).toBeVisible();
    await expect(page.getByText(partly)).toBeVisible();
    await expect(page.getByText(complete)).toBeHidden();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByText(complete)).toBeVisible();
  }
});
