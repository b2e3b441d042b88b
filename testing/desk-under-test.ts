import type { FastifyInstance } from 'fastify';

import { COOKIE_HEADERS } from '#desk/endpoints/auth.ts';
import { buildDeskApp, type DeskAppOptions } from '#desk/server/desk-app.ts';
import type { Engine } from '#testing/databases.ts';
import { codeIn } from '#testing/inbox.ts';
import { describeOnEach, type OnEngine } from '#testing/on-each-engine.ts';
import { createVisitor, withServer, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';

export const DESK_URL = 'https://desk.example.com';
export const DESK_SETTINGS = {
  DESK_URL,
  DESK_PEOPLE: 'ada@example.com:all, bob@example.com',
  TRUST_PROXY: '1',
};

function peopleOf({ config: { desk } }: ServerUnderTest['service']): DeskAppOptions['access'] {
  if (desk === null) throw new Error('This server has no DESK_URL. Add DESK_SETTINGS.');
  return { kind: 'people', ...desk };
}

export async function withDesk(
  { service }: Pick<ServerUnderTest, 'service'>,
  test: (app: FastifyInstance) => Promise<void>,
  options: Partial<DeskAppOptions> = {},
): Promise<void> {
  const app = await buildDeskApp(service, {
    access: options.access ?? peopleOf(service),
    files: null,
    dnsServers: ['127.0.0.1:9'],
    isStopping: () => false,
    // Tests share two cores, so event loop delay must not count.
    loadLimits: { maxPending: 1_000, maxEventLoopDelayMs: 0 },
    ...options,
  });
  try {
    await app.ready();
    await test(app);
  } finally {
    await app.close();
  }
}

export const atDesk = (
  engine: Engine,
  test: (app: FastifyInstance, server: ServerUnderTest) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
  options: Partial<DeskAppOptions> = {},
): Promise<void> =>
  withServer({ engine, env: { ...DESK_SETTINGS, ...env } }, (server) =>
    withDesk(server, (app) => test(app, server), options),
  );

type DeskTest = (title: string, ...test: DropFirst<Parameters<typeof atDesk>>) => void;
type DropFirst<List extends readonly unknown[]> = List extends [unknown, ...infer Rest] ? Rest : never;

/** Each test has its own desk. */
export const deskOnEachEngine = (subject: string, addTests: (on: OnEngine<DeskTest>) => void): void =>
  describeOnEach<DeskTest>(
    subject,
    addTests,
    (engine, add) =>
      (title, ...test) =>
        add(title, () => atDesk(engine, ...test)),
  );

export type DeskBrowser = Visitor;

/** Keeps its session in headers instead of cookies, because of plain http. */
export const createDeskBrowser = (app: FastifyInstance, address?: string): DeskBrowser =>
  createVisitor({ app }, address, Object.values(COOKIE_HEADERS));

/** @param count number of the code's mail to this address, from 1 */
export async function signInAtDesk(
  { inbox }: Pick<ServerUnderTest, 'inbox'>,
  browser: DeskBrowser,
  email: string,
  count = 1,
): Promise<DeskBrowser> {
  const asked = await browser.post('/api/sign-in', { email });
  if (asked.statusCode !== 200) throw new Error(asked.body);
  const code = codeIn(await inbox.waitForMail(email, count));
  const entered = await browser.post('/api/sign-in/code', { code });
  if (entered.statusCode !== 200) throw new Error(entered.body);
  return browser;
}
