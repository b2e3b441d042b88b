// A site with its desk in a browser, and colleagues who are signed in there. The mail is real, as everywhere.
import AxeBuilder from '@axe-core/playwright';
import { request, type APIRequestContext, type Page } from '@playwright/test';

import { KEPT_BY_BROWSER } from '#desk/calls/door.ts';
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

/** What a signed-in browser sends. The desk of these tests is at plain http, where a header stands in for the cookie. */
type SessionHeader = { readonly [KEPT_BY_BROWSER.session]: string };

export type DeskSite = {
  readonly site: Site;
  readonly url: string;
  /** The day (UTC) on which its leads came, as 2026-11-20. */
  readonly madeOn: string;
  /** The code of the newest mail to a colleague; each mail is read once. */
  readonly newestCode: (email: string) => Promise<string>;
  /** Signs a colleague in without a page. @param userAgent what the browser calls itself */
  readonly signIn: (email: string, userAgent?: string) => Promise<SessionHeader>;
  /** The same, once for all tests. */
  readonly signedIn: (who: 'all' | 'read') => Promise<SessionHeader>;
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
  const states = new Map<string, Promise<SessionHeader>>();
  const signIn = async (email: string, userAgent = 'e2e') => {
    const browser = await request.newContext({
      baseURL: url,
      userAgent,
      extraHTTPHeaders: { origin: url },
    });
    const asked = await browser.post('/api/sign-in', { data: { email } });
    if (!asked.ok()) throw new Error(`${email} could not ask for a code: ${await asked.text()}`);
    const code = await newestCode(email).catch((error: unknown) => {
      throw new Error(`${String(error)} The log of the site:\n${site.output()}`);
    });
    const { signIn: name, session } = KEPT_BY_BROWSER;
    const headers = { [name]: asked.headers()[name] ?? '' };
    const entered = await browser.post('/api/sign-in/code', { data: { code }, headers });
    if (!entered.ok()) throw new Error(`${email} could not sign in: ${await entered.text()}`);
    const token = entered.headers()[session] ?? '';
    await browser.dispose();
    return { [session]: token };
  };
  return {
    site,
    url,
    madeOn,
    newestCode,
    signIn,
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
  open: async ({ page, desk }, use) => {
    await use(async (path, who = 'all') => {
      if (!page.url().startsWith(desk.url)) await page.goto('/api/live');
      await keepSession(page, await desk.signedIn(who));
      await page.goto(path);
    });
  },
});

/** Puts a session into a page's tab, in place of the one that it has. */
export const keepSession = (page: Page, session: SessionHeader): Promise<void> =>
  page.evaluate((items) => {
    for (const [name, value] of items) sessionStorage.setItem(name, value);
  }, Object.entries(session));

/** Takes the session out of a page's tab. */
export const loseSession = (page: Page): Promise<void> => page.evaluate(() => sessionStorage.clear());

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
