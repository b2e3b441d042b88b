// A site with its desk in a browser, and colleagues who are signed in there. The mail is real, as everywhere.
import AxeBuilder from '@axe-core/playwright';
import { request, type APIRequestContext, type Page } from '@playwright/test';

import { freePort } from '#testing/free-port.ts';
import { codeIn } from '#testing/inbox.ts';
import { startSite, type Site, type SiteOptions } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';
import { expect, test as base } from './fixtures.ts';

export { expect };

/** The people of DESK_PEOPLE: one who may do everything, one who looks, and two who sign in by hand. */
export const PEOPLE = {
  all: 'ada@example.com',
  read: 'bob@example.com',
  door: 'eve@example.com',
  passkey: 'kay@example.com',
} as const;

type StorageState = Awaited<ReturnType<APIRequestContext['storageState']>>;

export type DeskSite = {
  readonly site: Site;
  readonly url: string;
  /** The day (UTC) on which its leads came, as 2026-11-20. */
  readonly madeOn: string;
  /** The code of the newest mail to a colleague; each mail is read once. */
  readonly newestCode: (email: string) => Promise<string>;
  /** The cookies of a colleague who is signed in. */
  readonly signedIn: (who: 'all' | 'read') => Promise<StorageState>;
};

/** Answers that the tests find in the list: the address, the company, and where the visitor came from. */
export const LEADS = [
  { name: 'Ada Lovelace', company: 'Analytical Engines', email: 'ada@engines.example', source: 'newsletter' },
  {
    name: 'Grace Hopper',
    company: 'Compilers & Sons',
    email: 'grace@compilers.example',
    source: 'newsletter',
  },
  { name: 'Alan Turing', company: 'Bombe Ltd', email: 'alan@bombe.example', source: 'partner' },
] as const;

type Person = {
  readonly name: string;
  readonly company: string;
  readonly email: string;
  readonly source: string;
  /** To the campaign's own questions. */
  readonly answers?: Readonly<Record<string, string | readonly string[]>>;
};

/** Sends the form as a visitor without a browser does. The caller disposes of the visitor. */
export async function askForCode(
  site: Site,
  { source, ...answers }: Person,
): Promise<{ readonly visitor: APIRequestContext; readonly enter: (code: string) => Promise<unknown> }> {
  const visitor = await request.newContext({ baseURL: site.url });
  const touch = `utm_source=${source}`;
  const headers = { 'x-visit': new URLSearchParams({ first: touch, last: touch }).toString() };
  await visitor.post('/api/leads', { headers, data: { ...answers, consent: true } });
  const enter = (code: string) => visitor.post('/api/verify', { data: { email: answers.email, code } });
  return { visitor, enter };
}

/** Goes the way of a visitor without a browser: form, mail, code. */
export async function becomeLead(site: Site, person: Person): Promise<void> {
  const { visitor, enter } = await askForCode(site, person);
  await enter(codeIn(await site.inbox.waitForMail(person.email)));
  await visitor.dispose();
}

/** A busy machine takes its time. */
const READY_WITHIN_MS = 60_000;

const isThere = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** What differs from the site of the other tests: settings, people who are there, and what the mail server does. */
export type DeskOptions = Pick<SiteOptions, 'env' | 'inbox'> & { readonly people?: readonly Person[] };

/** Starts it, and waits until the desk answers. */
export async function startDeskSite({ env, inbox, people = LEADS }: DeskOptions = {}): Promise<DeskSite> {
  const port = await freePort();
  // Passkeys belong to a name: no browser has them at an address in numbers.
  const url = `http://localhost:${port}`;
  const site = await startSite({
    env: {
      LEADS_PER_IP_PER_HOUR: '0',
      VERIFY_PER_IP_PER_HOUR: '0',
      DESK_URL: url,
      DESK_PORT: String(port),
      DESK_PEOPLE: `${PEOPLE.all}:all, ${PEOPLE.read}, ${PEOPLE.door}, ${PEOPLE.passkey}`,
      ...env,
    },
    inbox,
  });
  const madeOn = new Date().toISOString().slice(0, 10);
  for (const lead of people) await becomeLead(site, lead);
  // The desk's process starts with the page's.
  await until(() => isThere(url), READY_WITHIN_MS);
  const read = new Map<string, number>();
  const newestCode = async (email: string) => {
    const count = (read.get(email) ?? 0) + 1;
    read.set(email, count);
    return codeIn(await site.inbox.waitForMail(email, count));
  };
  const states = new Map<string, Promise<StorageState>>();
  const signIn = async (email: string) => {
    const browser = await request.newContext({ baseURL: url, extraHTTPHeaders: { origin: url } });
    const asked = await browser.post('/api/sign-in', { data: { email } });
    if (!asked.ok()) throw new Error(`${email} could not ask for a code: ${await asked.text()}`);
    const code = await newestCode(email).catch((error: unknown) => {
      throw new Error(`${String(error)} The log of the site:\n${site.output()}`);
    });
    const entered = await browser.post('/api/sign-in/code', { data: { code } });
    if (!entered.ok()) throw new Error(`${email} could not sign in: ${await entered.text()}`);
    const state = await browser.storageState();
    await browser.dispose();
    return state;
  };
  return {
    site,
    url,
    madeOn,
    newestCode,
    signedIn: (who) => {
      const state = states.get(who) ?? signIn(PEOPLE[who]);
      states.set(who, state);
      return state;
    },
  };
}

type DeskFixtures = {
  /** Signs the page's browser in, and opens a page of the desk. */
  readonly open: (path: string, who?: 'all' | 'read') => Promise<void>;
};

type WorkerFixtures = { readonly desk: DeskSite; readonly deskOptions: DeskOptions };

export const test = base.extend<DeskFixtures, WorkerFixtures>({
  deskOptions: [{}, { option: true, scope: 'worker' }],
  desk: [
    async ({ deskOptions }, use) => {
      const desk = await startDeskSite(deskOptions);
      await use(desk);
      await desk.site.close();
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ desk }, use) => use(desk.url),
  open: async ({ page, context, desk }, use) => {
    await use(async (path, who = 'all') => {
      await context.addCookies((await desk.signedIn(who)).cookies);
      await page.goto(path);
    });
  },
});

export async function expectNoViolations(page: Page, state: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  expect(found, state).toEqual([]);
}

/** How far the page can be scrolled sideways. */
export const sidewaysOverflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
