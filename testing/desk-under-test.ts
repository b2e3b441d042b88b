import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';

import { COOKIE_HEADERS } from '#desk/endpoints/auth.ts';
import { buildDeskApp, type DeskAppOptions } from '#desk/server/desk-app.ts';
import type { Engine } from '#testing/databases.ts';
import { codeIn } from '#testing/inbox.ts';
import { withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

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

async function openTestDesk(
  { service }: Pick<ServerUnderTest, 'service'>,
  options: Partial<DeskAppOptions> = {},
): Promise<FastifyInstance> {
  const app = await buildDeskApp(service, {
    access: options.access ?? peopleOf(service),
    files: null,
    dnsServers: ['127.0.0.1:9'],
    isStopping: () => false,
    // Tests share two cores, so event loop delay must not count.
    loadLimits: { maxInHand: 1_000, maxEventLoopDelayMs: 0 },
    ...options,
  });
  await app.ready();
  return app;
}

export async function withDesk(
  server: Pick<ServerUnderTest, 'service'>,
  test: (app: FastifyInstance) => Promise<void>,
  options: Partial<DeskAppOptions> = {},
): Promise<void> {
  const app = await openTestDesk(server, options);
  try {
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

type Options = Partial<Omit<InjectOptions, 'cookies'>> & {
  readonly cookies?: Readonly<Record<string, string>>;
};

export type DeskBrowser = {
  readonly cookies: Map<string, string>;
  /** Sent as headers instead of cookies, because of plain http. */
  readonly kept: Map<string, string>;
  readonly get: (url: string, options?: Options) => Promise<LightMyRequestResponse>;
  readonly post: (url: string, body?: unknown, options?: Options) => Promise<LightMyRequestResponse>;
};

export function createDeskBrowser(app: FastifyInstance, address = '127.0.0.1'): DeskBrowser {
  const cookies = new Map<string, string>();
  const kept = new Map<string, string>();
  const request = async (options: Options): Promise<LightMyRequestResponse> => {
    const response = await app.inject({
      remoteAddress: address,
      ...options,
      cookies: { ...Object.fromEntries(cookies), ...options.cookies },
      headers: { ...Object.fromEntries(kept), ...options.headers },
    });
    for (const name of Object.values(COOKIE_HEADERS)) {
      const value = response.headers[name];
      if (value === '') kept.delete(name);
      else if (typeof value === 'string') kept.set(name, value);
    }
    for (const { name, value } of response.cookies) {
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  return {
    cookies,
    kept,
    get: (url, options) => request({ method: 'GET', url, ...options }),
    post: (url, body = {}, options) =>
      request({ method: 'POST', url, payload: body as NonNullable<InjectOptions['payload']>, ...options }),
  };
}

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
