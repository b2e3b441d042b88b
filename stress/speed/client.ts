// Uses node:http with keep-alive connections, like a proxy; fetch would cost more than the measured server.
import { Agent, request } from 'node:http';

import { API } from '#shared/api.ts';
import { filledForm } from '#testing/server-under-test.ts';
import type { Visitors } from '#stress/speed/loops.ts';
import type { Sink } from '#stress/speed/sink.ts';
import { newEmail, newIpAddress } from '#stress/harness/visitors.ts';

type ClientResponse = { readonly status: number; readonly cookie: string; readonly body: string };

export type Client = Visitors & {
  readonly verified: readonly string[];
  readonly close: () => void;
};

const MAX_CONNECTIONS = 512;

export function createClient(url: string, sink: Sink): Client {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  const verified: string[] = [];

  const post = (
    path: string,
    body: object,
    headers: Readonly<Record<string, string>>,
  ): Promise<ClientResponse> =>
    new Promise((resolve, reject) => {
      const json = JSON.stringify(body);
      const length = String(Buffer.byteLength(json));
      const sent = request(
        {
          agent,
          hostname,
          port,
          method: 'POST',
          path,
          headers: { ...headers, 'content-type': 'application/json', 'content-length': length },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (text += chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              cookie: response.headers['set-cookie']?.map((line) => line.split(';', 1)[0]).join('; ') ?? '',
              body: text,
            }),
          );
        },
      );
      sent.on('error', reject);
      sent.end(json);
    });
  const expectStatus = ({ status, body }: ClientResponse, expected: number, what: string): void => {
    if (status !== expected) throw new Error(`${what} got ${status}: ${body}`);
  };

  return {
    verified,
    flow: async () => {
      const email = newEmail();
      const from = newIpAddress();
      const start = performance.now();
      const formResponse = await post(API.leads, filledForm({ email }), { 'x-forwarded-for': from });
      expectStatus(formResponse, 202, 'A form');
      const code = await sink.codeFor(email);
      const codeResponse = await post(
        API.verify,
        { email, code },
        { cookie: formResponse.cookie, 'x-forwarded-for': from },
      );
      expectStatus(codeResponse, 200, 'A code');
      verified.push(email);
      return performance.now() - start;
    },
    abandon: () => {
      agent.destroy();
      sink.abandon();
    },
    close: () => agent.destroy(),
  };
}
