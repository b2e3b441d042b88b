import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as plainRequest } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';

import { freePort } from '#testing/free-port.ts';
import { startProxy, type ProxyName, type ProxyPlace, type ProxyPorts } from '#testing/proxies.ts';
import { startSite, type Site } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';

export type HttpResponse = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
};

export async function ask(
  url: string,
  { body = '', ...options }: RequestOptions & { readonly body?: string } = {},
): Promise<HttpResponse> {
  const sent = url.startsWith('https:')
    ? request(url, { rejectUnauthorized: false, ...options })
    : plainRequest(url, options);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers, rawHeaders } = response;
  return { status, headers, rawHeaders, body: await text(response) };
}

async function freePorts(pages: number): Promise<ProxyPorts> {
  const [http = 0, https = 0, ...others] = await Promise.all(Array.from({ length: pages + 2 }, freePort));
  return { http, https, pages: others };
}

type Guide = {
  /** @example https://localhost:8443/guide, with the proxy's port */
  readonly urlAt: (port: number) => string;
  readonly campaign?: string;
  readonly env?: Readonly<Record<string, string>>;
};

export type Guides = {
  /** In the order of the guides; `url` is the public URL. */
  readonly sites: readonly Site[];
  readonly ports: ProxyPorts;
  readonly close: () => Promise<void>;
};

export async function startBehind(
  name: ProxyName,
  place: ProxyPlace,
  guides: readonly Guide[],
): Promise<Guides> {
  const ports = await freePorts(guides.length);
  const sites = await Promise.all(
    guides.map(async ({ urlAt, env, ...options }, index): Promise<Site> => {
      const url = urlAt(ports.https);
      const settings = { PORT: String(ports.pages[index]), PUBLIC_URL: url, TRUST_PROXY: '1' };
      return { ...(await startSite({ ...options, env: { ...settings, ...env } })), url };
    }),
  );
  const proxy = await startProxy(name, ports, place);
  // On a busy machine, a new server may shed load.
  for (const { url } of sites) {
    const { host, pathname } = new URL(`${url}/`);
    const localUrl = `https://localhost:${ports.https}${pathname}`;
    await until(async () => (await ask(localUrl, { headers: { host } })).status === 200);
  }
  return {
    sites,
    ports,
    close: async () => {
      await proxy.close();
      for (const site of sites) await site.close();
    },
  };
}
