// The desk in every engine: one walk from signing in to signing out, on a wide screen and on a telephone.
import { expect, test } from '@playwright/test';

import { sees, waitFor, type Engine, type EnginePage } from '#testing/engines/engine.ts';
import { ENGINE_NAMES, findEngine } from '#testing/engines/find-engines.ts';
import { LEADS, PEOPLE, startDeskSite, type DeskSite } from './desk-fixtures.ts';

const WIDE = [1280, 800] as const;
const TELEPHONE = [375, 812] as const;

/** Before anyone has signed in, the page asks who is in. Chromium calls the answer an error. */
const NOT_SIGNED_IN = /status of 401 .*\/api\/me\)$/;

for (const name of ENGINE_NAMES) {
  const start = findEngine(name);
  test.describe(name, () => {
    // A busy machine takes its time.
    test.describe.configure({ timeout: 180_000 });
    test.skip(start === undefined, `${name.toUpperCase()} WAS NOT TESTED: it is not installed.`);

    let engine: Engine;
    let desk: DeskSite;
    let page: EnginePage;

    test.beforeAll(async () => {
      [engine, desk] = await Promise.all([start!(), startDeskSite()]);
      page = await engine.newPage();
    });
    test.afterAll(async () => {
      await page?.close();
      await engine?.close();
      await desk?.site.close();
    });

    test('a colleague signs in, finds a person, corrects an answer, reads the log and signs out', async () => {
      await page.open(desk.url);
      await isAt(page, '/', 'Sign in to the desk');
      await fitsTelephone(page);
      await page.click('textbox', 'E-mail address');
      await page.type(PEOPLE.all);
      await page.press('Enter');
      await sees(page, `If ${PEOPLE.all} may sign in, a code is on its way.`);
      await hasFocus(page, 'Code of six digits');
      await fitsTelephone(page);
      await page.type(await desk.newestCode(PEOPLE.all));

      await isAt(page, '/', 'Today');
      await sees(page, `${LEADS.length} leads`);
      await fitsTelephone(page);

      await page.open(`${desk.url}/leads?source=newsletter`);
      await namesAre(page, 'Grace Hopper', 'Ada Lovelace');
      expect(await fieldsOfTheFilter(page), 'top and height of the fields, in pixels').toHaveLength(1);
      await page.click('button', 'Export');
      await sees(page, 'The file holds exactly what is filtered: Leads, source newsletter.');
      await sees(page, 'every column');
      await tabTo(page, 'Export');
      await page.press('Enter');
      await sees(page, '2 people exported. The file is in your downloads.');
      await page.click('searchbox', 'Search');
      await page.type('engines');
      await namesAre(page, 'Ada Lovelace');
      await isAt(page, '/leads?search=engines&source=newsletter', 'Leads');
      await page.reload();
      await namesAre(page, 'Ada Lovelace');
      await fitsTelephone(page);

      await page.click('link', 'Ada Lovelace');
      await hasFocus(page, 'Ada Lovelace');
      await sees(page, 'Became a lead');
      await page.click('button', 'Correct');
      await page.click('textbox', 'Full name');
      await page.press('Control+a');
      await page.type('Ada King');
      await sees(page, 'Now: Ada Lovelace');
      await fitsTelephone(page);
      await page.press('Enter');
      await sees(page, 'The answers are corrected.');
      await hasFocus(page, 'Correct');
      await page.box('heading', 'Ada King');
      await sees(page, 'Ada Lovelace → Ada King');
      await fitsTelephone(page);

      await page.click('link', 'Log');
      await isAt(page, '/log', 'Log');
      await namesAre(page, 'Corrected', 'Looked', 'Looked', 'Exported', 'Looked', 'Signed in');
      await sees(page, LEADS[0].email);
      await fitsTelephone(page);

      await page.resize(...TELEPHONE);
      for (const [link, address] of [
        ['Companies', '/companies'],
        ['Lost', '/lost'],
        ['Report', '/report'],
        ['Mail', '/mail'],
        ['Account', '/account'],
      ] as const) {
        await page.click('button', 'Open the menu');
        await page.click('link', link);
        await isAt(page, address, link);
        await isLoaded(page);
        expect(await tooWide(page), link).toEqual([]);
      }

      await page.click('button', 'Open the menu');
      await page.click('button', 'Sign out');
      await isAt(page, '/account', 'Sign in to the desk');
      await page.open(`${desk.url}/leads`);
      await isAt(page, '/leads', 'Sign in to the desk');
      expect(await page.evaluate(() => document.body.innerText)).not.toContain('Ada');

      const complaints = await page.complaints();
      expect(complaints.filter((complaint) => !NOT_SIGNED_IN.test(complaint))).toEqual([]);
    });
  });
}

/** The address, and the heading of the page that stands there. */
const isAt = (page: EnginePage, address: string, heading: string) =>
  waitFor(
    page,
    `"${heading}" is at ${address}`,
    (wanted) =>
      location.pathname + location.search === wanted.address &&
      document.querySelector('h1')?.innerText === wanted.heading &&
      document.title === `${wanted.heading} – Desk`,
    { address, heading },
  );

const isLoaded = (page: EnginePage) =>
  waitFor(
    page,
    'nothing is being loaded',
    () =>
      !Array.from(document.querySelectorAll('[role=status]')).some((one) => one.textContent?.includes('…')),
    undefined,
  );

/** What heads the rows of the table, from the top. */
const namesAre = (page: EnginePage, ...names: string[]) =>
  waitFor(
    page,
    `the rows are those of ${names.join(', ')}`,
    (wanted) =>
      Array.from(document.querySelectorAll<HTMLElement>('tbody th'), (one) => one.innerText.trim()).join() ===
      wanted,
    names.join(),
  );

/** Where the fields above the list stand, and how high they are: once each way that there is. */
const fieldsOfTheFilter = (page: EnginePage): Promise<string[]> =>
  page.evaluate(() => {
    const boxes = Array.from(document.querySelectorAll('search :is(input, select)'), (one) =>
      one.getBoundingClientRect(),
    );
    return [...new Set(boxes.map(({ y, height }) => `${Math.round(y)} ${Math.round(height)}`))];
  });

const hasFocus = (page: EnginePage, name: string) =>
  waitFor(page, `"${name}" has the focus`, isFocused, name);

/** By its label, or what is written on it. */
function isFocused(name: string): boolean {
  const focused = document.activeElement as HTMLInputElement | null;
  return (focused?.labels?.[0] ?? focused)?.innerText.trim() === name;
}

/** Within a dialogue, whose last button may have the name of the one that opened it. */
async function tabTo(page: EnginePage, name: string): Promise<void> {
  const MOST = 10;
  await waitFor(
    page,
    'the focus is in the dialogue',
    () => Boolean(document.activeElement?.closest('[role=dialog]')),
    undefined,
  );
  for (let presses = 0; presses < MOST && !(await page.evaluate(isFocused, name)); presses += 1)
    await page.press('Tab');
  await hasFocus(page, name);
}

/** The page, and a dialogue on it, are no wider than a telephone. The window is wide again afterwards. */
async function fitsTelephone(page: EnginePage): Promise<void> {
  await page.resize(...TELEPHONE);
  await waitFor(
    page,
    'the page is set for a telephone',
    (width) => innerWidth === width && document.querySelector('table') === null,
    TELEPHONE[0],
  );
  expect(await tooWide(page), 'wider than a telephone').toEqual([]);
  await page.resize(...WIDE);
}

/** What can be scrolled sideways, or stands out of the window: the page itself, or a dialogue. */
const tooWide = (page: EnginePage): Promise<string[]> =>
  page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll('[role=dialog], [role=alertdialog]')]
      .filter(
        (one) => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth + 0.5,
      )
      .map((one) => `${one.localName}: ${one.scrollWidth} of ${one.clientWidth} px`),
  );
