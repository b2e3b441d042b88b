import { request, type Page } from '@playwright/test';

import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import type { doctor } from '#desk/endpoints/figures.ts';
import { signInOverHttp, untilDeskAnswers, type SessionHeader } from '#testing/desk-over-http.ts';
import { freePort } from '#testing/free-port.ts';
import { codeIn, smtpError } from '#testing/inbox.ts';
import { ownFieldsCampaign } from '#testing/other-campaigns.ts';
import { startSite, type Site } from '#testing/start-site.ts';
import { startReceiver, type Receiver } from '#testing/webhook-receiver.ts';
import { expect, test as base } from './fixtures.ts';

export { expect };

/** One desk user has all rights, one may only read, and the other two sign in during a test. */
export const PEOPLE = {
  all: 'ada@example.com',
  read: 'bob@example.com',
  signsIn: 'eve@example.com',
  passkey: 'kay@example.com',
} as const;

export type DeskSite = {
  readonly site: Site;
  readonly url: string;
  readonly madeOn: string;
  readonly newestCode: (email: string) => Promise<string>;
  readonly signIn: (email: string, userAgent?: string) => Promise<SessionHeader>;
  readonly signedIn: (who: 'all' | 'read') => Promise<SessionHeader>;
};

type Person = {
  readonly name: string;
  readonly company: string;
  readonly email: string;
  readonly source: string;
  readonly answers?: Readonly<Record<string, string | readonly string[]>>;
  readonly newsConsentVersion?: string;
};

export const LEADS = [
  { name: 'Ada Lovelace', company: 'Analytical Engines', email: 'ada@engines.example', source: 'newsletter' },
  {
    name: 'Grace Hopper',
    company: 'Compilers & Sons',
    email: 'grace@compilers.example',
    source: 'newsletter',
  },
  { name: 'Alan Turing', company: 'Bombe Ltd', email: 'alan@bombe.example', source: 'partner' },
] as const satisfies readonly Person[];

const OWN_ANSWERS = { job_title: 'Rear admiral', team_size: 'Only me', topics: ['Prompts'] } as const;

/** Tests must not change this lead. */
export const KEPT_LEAD = {
  name: 'Grace Hopper',
  company: 'Compilers & Co',
  email: 'grace@compilers.example',
  source: 'newsletter',
  answers: OWN_ANSWERS,
} as const satisfies Person;

/** Lost leads, whose mail server refuses the code or delays it. */
export const LOST = [
  { name: 'Mireille Faure', company: 'Globex', email: 'mireille@refused.example', source: 'newsletter' },
  { name: 'Lena Brandt', company: 'Initech', email: 'lena@later.example', source: 'newsletter' },
  { name: 'Jonas Lind', company: 'Hooli', email: 'jonas@later.example', source: 'partner' },
].map((person): Person => ({ ...person, answers: OWN_ANSWERS }));

function onRecipient(address: string): Error | null {
  if (address.endsWith('@refused.example'))
    return smtpError(550, '5.1.1 Recipient address rejected: User unknown');
  return address.endsWith('@later.example') ? smtpError(451, '4.7.1 Greylisted, try again later') : null;
}

const READY_WITHIN_MS = 60_000;

export async function becomeLead(
  site: Site,
  { source, ...answers }: Person,
  entersCode = true,
): Promise<void> {
  await using visitor = await request.newContext({ baseURL: site.url });
  const touch = `utm_source=${source}`;
  const headers = { 'x-visit': new URLSearchParams({ first: touch, last: touch }).toString() };
  // On a busy machine, a new server may shed load.
  await expect(async () => {
    const asked = await visitor.post('/api/leads', { headers, data: { ...answers, consent: true } });
    expect(asked.status(), await asked.text()).toBe(202);
  }).toPass({ timeout: READY_WITHIN_MS });
  if (!entersCode) return;
  const code = codeIn(await site.inbox.waitForMail(answers.email));
  await visitor.post('/api/verify', { data: { email: answers.email, code } });
}

type DeskOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly leads: readonly Person[];
  readonly lost?: readonly Person[];
};

async function startDeskSite({ env, leads, lost = [] }: DeskOptions): Promise<DeskSite> {
  const port = await freePort();
  // Browsers refuse passkeys for IP addresses, so this is a host name.
  const url = `http://localhost:${port}`;
  const site = await startSite({
    env: {
      LEADS_PER_IP_PER_HOUR: '0',
      VERIFY_PER_IP_PER_HOUR: '0',
      DESK_URL: url,
      DESK_PORT: String(port),
      DESK_PEOPLE: `${PEOPLE.all}:all, ${PEOPLE.read}, ${PEOPLE.signsIn}, ${PEOPLE.passkey}`,
      ...env,
    },
    inbox: { onRecipient },
  });
  const madeOn = new Date().toISOString().slice(0, 10);
  try {
    await untilDeskAnswers(url);
    for (const person of lost) await becomeLead(site, person, false);
    for (const person of leads) await becomeLead(site, person);
  } catch (error) {
    await site.close();
    throw error;
  }
  const read = new Map<string, number>();
  const newestCode = async (email: string) => {
    const count = (read.get(email) ?? 0) + 1;
    read.set(email, count);
    return codeIn(await site.inbox.waitForMail(email, count));
  };
  const states = new Map<string, Promise<SessionHeader>>();
  const signIn = (email: string, userAgent = 'e2e') =>
    signInOverHttp(
      url,
      email,
      () =>
        newestCode(email).catch((error: unknown) => {
          throw new Error(`${String(error)} The log of the site:\n${site.output()}`);
        }),
      userAgent,
    );
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
  readonly open: (path: string, who?: 'all' | 'read') => Promise<void>;
};

type WorkerFixtures = { readonly deskOptions: DeskOptions; readonly desk: DeskSite };

/** Tests share this desk and must not change its contacts. */
export const test = base.extend<DeskFixtures, WorkerFixtures>({
  deskOptions: [{ leads: LEADS }, { option: true, scope: 'worker' }],
  desk: [
    async ({ deskOptions }, use) => {
      const desk = await startDeskSite(deskOptions);
      await use(desk);
      await desk.site.close();
    },
    { scope: 'worker', timeout: 2 * READY_WITHIN_MS },
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

/** Tests may change this desk. */
export const changingTest = test.extend<object, { readonly receiver: Receiver }>({
  receiver: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixture's needs from this pattern
    async ({}, use) => {
      // Refuses the first event, which is about KEPT_LEAD.
      await using receiver = await startReceiver((_, response) =>
        response.writeHead(receiver.received.length === 1 ? 410 : 204).end(),
      );
      await use(receiver);
    },
    { scope: 'worker' },
  ],
  deskOptions: [
    async ({ receiver }, use) =>
      use({
        env: {
          CAMPAIGN_FOLDER: ownFieldsCampaign(),
          GUIDE_EMAIL: 'link',
          RESEND_SECONDS: '0',
          WEBHOOK_ALLOW_PRIVATE: 'yes',
          WEBHOOK_URLS: receiver.url,
        },
        leads: [KEPT_LEAD],
        lost: LOST,
      }),
    { scope: 'worker' },
  ],
});

/** The doctor's findings depend on DNS; desk/doctor/ tests them with its own server. */
export const FOUND: OutputOf<typeof doctor> = {
  checkedAt: '2026-11-23T06:00:00.000Z',
  findings: [
    { check: 'database', state: 'ok', sentence: 'It can be read and written.' },
    {
      check: 'SPF',
      state: 'problem',
      sentence: 'example.com has no SPF record.',
      publish: { name: 'example.com', type: 'TXT', value: 'v=spf1 include:_spf.provider.example -all' },
    },
    { check: 'DKIM', state: 'warning', sentence: 'This server does not sign.' },
    { check: 'clock', state: 'note', sentence: 'No other clock was checked.' },
  ],
};

export const keepSession = (page: Page, session: SessionHeader): Promise<void> =>
  page.evaluate((items) => {
    for (const [name, value] of items) sessionStorage.setItem(name, value);
  }, Object.entries(session));

export const loseSession = (page: Page): Promise<void> => page.evaluate(() => sessionStorage.clear());
