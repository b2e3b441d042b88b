import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as plainRequest } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';

import { freePort } from '#testing/free-port.ts';
import { startProxy, type ProxyName, type ProxyPorts } from '#testing/proxies.ts';
import { startSite, type Site } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';
import { test as base } from './fixtures.ts';

export type Answer = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
};

export async function ask(
  url: string,
  { body = '', ...options }: RequestOptions & { readonly body?: string } = {},
): Promise<Answer> {
  const sent = url.startsWith('https:')
    ? request(url, { rejectUnauthorized: false, ...options })
    : plainRequest(url, options);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers, rawHeaders } = response;
  return { status, headers, rawHeaders, body: await text(response) };
}

export const settingsBehind = ({ pages, https }: ProxyPorts, path = '') => ({
  PORT: String(pages[0]),
  PUBLIC_URL: `https://localhost:${https}${path}`,
  TRUST_PROXY: '1',
});

export const freePorts = async (): Promise<ProxyPorts> => ({
  http: await freePort(),
  https: await freePort(),
  pages: [await freePort()],
});

type Behind = {
  readonly path?: string;
  readonly campaign?: string;
  readonly env?: Readonly<Record<string, string>>;
};

export const testBehind = (name: ProxyName, { path = '', env, ...options }: Behind = {}) =>
  base.extend<object, { readonly ports: ProxyPorts; readonly site: Site }>({
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixture's needs from this pattern
    ports: [async ({}, use) => use(await freePorts()), { scope: 'worker' }],
    site: [
      async ({ ports }, use) => {
        const site = await startSite({ ...options, env: { ...settingsBehind(ports, path), ...env } });
        const proxy = await startProxy(name, ports, { place: path === '' ? 'root' : 'path' });
        const url = `https://localhost:${ports.https}`;
        // On a busy machine, a new server may shed load.
        await until(async () => (await ask(`${url}${path}/`)).status === 200);
        await use({ ...site, url });
        await proxy.close();
        await site.close();
      },
      { scope: 'worker', timeout: 90_000 },
    ],
  });
