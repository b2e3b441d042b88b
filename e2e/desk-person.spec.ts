// One person in the desk: the story, what can be changed, and what a reader does not see.
import type { Page } from '@playwright/test';

import {
  becomeLead,
  expect,
  expectNoViolations,
  PEOPLE,
  sidewaysOverflow,
  test,
  type DeskSite,
} from './desk-fixtures.ts';

test.use({ deskOptions: { env: { GUIDE_EMAIL: 'link', RESEND_SECONDS: '0' }, people: [] } });

let people = 0;

type Open = (path: string, who?: 'all' | 'read') => Promise<void>;

/** Makes a lead, and opens its page from the list. */
async function openNewLead(
  page: Page,
  { site }: DeskSite,
  open: Open,
  who: 'all' | 'read' = 'all',
  host = 'compilers.example',
) {
  people += 1;
  const email = `grace-${people}@${host}`;
  await becomeLead(site, { name: 'Grace Hopper', company: 'Compilers & Co', email, source: 'newsletter' });
  await open(`/leads?search=${encodeURIComponent(email)}`, who);
  await page.getByRole('link', { name: 'Grace Hopper' }).first().click();
  await expect(page.getByRole('heading', { name: 'Grace Hopper', level: 1 })).toBeVisible();
  return email;
}

const story = (page: Page) => page.getByRole('region', { name: 'Story' });
const entry = (page: Page, what: string | RegExp) =>
  story(page).getByRole('listitem').filter({ hasText: what });

test('a person is told as a story, and a correction stands in it', async ({ page, desk, open }) => {
  const email = await openNewLead(page, desk, open);
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await expect(page.getByText(email).first()).toBeVisible();
  await expect(entry(page, 'Became a lead')).toBeVisible();
  const asked = entry(page, 'Asked for a code');
  await expect(asked).toContainText('newsletter');
  await expect(asked.getByText('Address as typed')).toBeHidden();
  await asked.getByText('Details').click();
  await expect(asked.getByText('Address as typed')).toBeVisible();
  await expect(entry(page, /^Mail sent/).first()).toBeVisible();

  await page.getByRole('button', { name: 'Correct' }).click();
  const dialog = page.getByRole('dialog', { name: 'Correct the answers' });
  await expect(dialog.getByRole('button', { name: 'Save' })).toBeDisabled();
  await dialog.getByLabel('Full name').fill('G');
  await expect(dialog.getByText('Now: Grace Hopper')).toBeVisible();
  await dialog.getByRole('button', { name: 'Save' }).click();
  // The rule and its sentence are those of the form.
  await expect(dialog.getByRole('alert')).toContainText('at least 2 characters');
  await dialog.getByLabel('Full name').fill('Grace <b>Brewster</b> Hopper');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(page.getByText('The answers are corrected.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Correct' })).toBeFocused();
  await expect(page.getByRole('heading', { name: 'Grace <b>Brewster</b> Hopper', level: 1 })).toBeVisible();
  await expect(entry(page, 'Was corrected by the operator')).toContainText(
    'Grace Hopper → Grace <b>Brewster</b> Hopper',
  );
});

test('a correction leads from the old name to the new one, in whatever script they are', async ({
  page,
  desk,
  open,
}) => {
  await openNewLead(page, desk, open);
  for (const name of ['محمد علي', 'سارة حسن']) {
    await page.getByRole('button', { name: 'Correct' }).click();
    await page.getByLabel('Full name').fill(name);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible();
  }
  const change = entry(page, 'Was corrected by the operator').first().getByRole('definition').first();
  const [before, after] = await change.evaluate((element) => {
    const leftOf = (name: string) => {
      const range = document.createRange();
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
        const start = text.textContent?.indexOf(name) ?? -1;
        if (start < 0) continue;
        range.setStart(text, start);
        range.setEnd(text, start + name.length);
        return range.getBoundingClientRect().left;
      }
      return Number.NaN;
    };
    return [leftOf('محمد علي'), leftOf('سارة حسن')];
  });
  expect(before).toBeLessThan(after ?? 0);
});

test('the proof of consent opens as a page to print', async ({ page, desk, open }) => {
  await openNewLead(page, desk, open);
  const [proof] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Proof to print' }).click(),
  ]);
  const heading = proof.getByRole('heading', { level: 1 });
  await expect(heading).toBeVisible();
  await expect(heading, 'its styles apply').toHaveCSS('font-size', '25.6px');
});

test('mail is stopped with a note, and a slip is undone with a reason', async ({ page, desk, open }) => {
  const email = await openNewLead(page, desk, open);
  await page.getByRole('button', { name: 'Stop mail' }).click();
  const stop = page.getByRole('alertdialog');
  await stop.getByLabel('Note').fill('asked by telephone');
  await stop.getByRole('button', { name: 'Stop mail' }).click();
  await expect(page.getByText('The address gets no mail any more.')).toBeVisible();
  const stopped = page.getByRole('region', { name: /^Gets no mail/ });
  await expect(stopped).toContainText('Stopped by hand');
  await expect(stopped).toContainText('asked by telephone');
  // A person who gets no mail gets no guide either.
  await expect(page.getByRole('button', { name: 'Send the guide again' })).toBeHidden();
  await stopped.getByRole('button', { name: 'Undo' }).click();
  const undo = page.getByRole('alertdialog', { name: `Mail ${email} again?` });
  await expect(undo.getByRole('button', { name: 'Mail again' })).toBeDisabled();
  await undo.getByLabel('Why mail may go again').fill('meant another Grace');
  await undo.getByRole('button', { name: 'Mail again' }).click();
  await expect(page.getByText('The address can be mailed again.')).toBeVisible();
  await expect(stopped).toBeHidden();
  // The button that opened the dialogue is gone.
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
  await expect(entry(page, 'Was taken off the list')).toBeVisible();
});

test('a stop that is undone beside another reason does not say that mail may go again', async ({
  page,
  desk,
  open,
}) => {
  const email = await openNewLead(page, desk, open);
  // The code, then the guide.
  const { parsed } = await desk.site.inbox.waitForMail(email, 2);
  await page.getByRole('button', { name: 'Stop mail' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stop mail' }).click();
  await expect(page.getByText('The address gets no mail any more.')).toBeVisible();
  // A complaint that comes later can be noted, too.
  await expect(page.getByRole('button', { name: 'Stop mail' })).toBeVisible();
  // The person decides it as well, by the link in the mail with the guide.
  const oneClick = parsed.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
  const { pathname, search } = new URL(/<([^>]+)>/.exec(oneClick)?.[1] ?? '');
  await page.request.post(desk.site.url + pathname + search, { form: { 'List-Unsubscribe': 'One-Click' } });
  await page.reload();
  const stopped = page.getByRole('region', { name: /^Gets no mail/ });
  await expect(stopped.getByRole('listitem')).toHaveCount(2);
  await expect(page.getByRole('button', { name: 'Stop mail' })).toBeHidden();
  await stopped.getByRole('button', { name: 'Undo' }).click();
  const undo = page.getByRole('alertdialog');
  await undo.getByLabel('Why mail may go again').fill('meant another Grace');
  await undo.getByRole('button', { name: 'Mail again' }).click();
  await expect(
    page.getByText('That reason is gone. The others stay, so the address gets no mail.'),
  ).toBeVisible();
  await expect(stopped.getByRole('listitem')).toHaveCount(1);
});

test('a deed on its way can be left by no key and no button, and is told when it is done', async ({
  page,
  desk,
  open,
}) => {
  const email = await openNewLead(page, desk, open);
  let goOn = () => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  await page.route('**/api/person/erase', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Erase', exact: true }).click();
  const erase = page.getByRole('alertdialog');
  await erase.getByRole('textbox').fill(email);
  await erase.getByRole('button', { name: 'Erase for good' }).click();
  await expect(erase.getByRole('button', { name: 'Working' })).toBeVisible();
  await expect(erase.getByRole('button', { name: 'Cancel' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await expect(erase).toBeVisible();
  goOn();
  await expect(page.getByText('Erased: ')).toBeVisible();
  await expect(page.getByText(email)).toHaveCount(0);
});

test('the guide is sent once more', async ({ page, desk, open }) => {
  const email = await openNewLead(page, desk, open);
  // The code, then the guide.
  await desk.site.inbox.waitForMail(email, 2);
  await page.getByRole('button', { name: 'Send the guide again' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Send' }).click();
  await expect(page.getByText('The guide is queued.')).toBeVisible();
  await desk.site.inbox.waitForMail(email, 3);
});

test('a person is erased once the address is typed again, and is nowhere afterwards', async ({
  page,
  desk,
  open,
}) => {
  const email = await openNewLead(page, desk, open);
  const address = page.url();
  await page.getByRole('button', { name: 'Erase' }).click();
  const erase = page.getByRole('alertdialog', { name: `Erase ${email}?` });
  await expect(erase).toContainText('It cannot be undone');
  await expect(erase).toContainText('backups still hold the person');
  const field = erase.getByLabel(`Type ${email} to confirm`);
  await field.fill('other@compilers.example');
  await field.blur();
  await expect(field).toHaveAccessibleDescription('This is not the address of this person.');
  await expect(erase.getByRole('button', { name: 'Erase for good' })).toBeDisabled();
  await field.fill(` ${email.toUpperCase()}`);
  await erase.getByRole('button', { name: 'Erase for good' }).click();
  await expect(page).toHaveURL('/leads');
  await expect(page.getByText(/^Erased: 1 lead/)).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Leads', level: 1 })).toBeFocused();
  await page.goto(address);
  await expect(page.getByRole('heading', { name: 'This person is not here' })).toBeVisible();
  await page.goto('/log');
  await expect(page.getByText('Erased').first()).toBeVisible();
  await expect(page.getByText(email)).toHaveCount(0);
});

test('who may only read sees the story and no action', async ({ page, desk, open }) => {
  await openNewLead(page, desk, open, 'read');
  await expect(entry(page, 'Became a lead')).toBeVisible();
  await expect(
    page.getByRole('main').getByRole('button', { name: /Correct|Send|Stop|Undo|Erase/ }),
  ).toHaveCount(0);
  await page.goto('/log');
  await expect(page.getByRole('heading', { name: 'There is no such page' })).toBeVisible();
});

test('the log says who did what, the newest first', async ({ page, desk, open }) => {
  const email = await openNewLead(page, desk, open);
  await open('/log');
  const rows = page.getByRole('table', { name: 'Log' }).getByRole('row');
  await expect(rows.nth(1)).toContainText(PEOPLE.all);
  await expect(rows.nth(1)).toContainText('Looked');
  await expect(rows.nth(1)).toContainText(email);
});

for (const theme of ['light', 'dark']) {
  test(`every state of a person passes axe in the ${theme} theme`, async ({ page, desk, open }) => {
    test.slow();
    await page.addInitScript((value) => localStorage.setItem('theme', value), theme);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await openNewLead(page, desk, open);
    await entry(page, 'Asked for a code').getByText('Details').click();
    await expectNoViolations(page, 'a person');
    for (const name of ['Correct', 'Send the guide again', 'Stop mail', 'Erase']) {
      await page.getByRole('button', { name }).click();
      await expect(page.getByRole(name === 'Correct' ? 'dialog' : 'alertdialog')).toBeVisible();
      await expectNoViolations(page, name);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('button', { name })).toBeFocused();
    }
    await page.getByRole('button', { name: 'Stop mail' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop mail' }).click();
    await expect(page.getByRole('region', { name: /^Gets no mail/ })).toBeVisible();
    await expectNoViolations(page, 'a person who gets no mail');
    await page.setViewportSize({ width: 375, height: 812 });
    await expectNoViolations(page, 'a person on a telephone');
    await open('/log');
    await expect(page.getByRole('list', { name: 'Log' })).toBeVisible();
    await expectNoViolations(page, 'the log on a telephone');
    await open('/person?id=none');
    await expect(page.getByRole('heading', { name: 'This person is not here' })).toBeVisible();
    await expectNoViolations(page, 'a person who is not here');
  });
}

test('a person fits a telephone @layout', async ({ page, desk, open }) => {
  await page.setViewportSize({ width: 375, height: 812 });
  await openNewLead(page, desk, open);
  await entry(page, 'Asked for a code').getByText('Details').click();
  expect(await sidewaysOverflow(page)).toBe(0);
});

test('a long address fits the dialogue that erases it on a telephone @layout', async ({
  page,
  desk,
  open,
}) => {
  await page.setViewportSize({ width: 375, height: 812 });
  await openNewLead(page, desk, open, 'all', 'marketing.industrieanlagenbau.example');
  await page.getByRole('button', { name: 'Erase' }).click();
  const dialogue = page.getByRole('alertdialog');
  for (const width of [375, 320]) {
    await page.setViewportSize({ width, height: 812 });
    expect(await dialogue.evaluate((box) => box.scrollWidth - box.clientWidth), `${width} px`).toBe(0);
  }
});
