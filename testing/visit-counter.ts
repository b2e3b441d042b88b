// The counter uses https and has a different origin from the page.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';

import { TEST_CERTIFICATE, TEST_KEY } from '#testing/certificate.ts';
import { listening, type Listening } from '#testing/listening.ts';

/** Browsers find it with `resolverRule` and need `ignoreHTTPSErrors` for its certificate. */
export const COUNTER_ORIGIN = 'https://counter.example';
export const UMAMI_SITE = 'b59e9c65-ae32-47f1-8400-119fcf4861c4';

export type VisitCounter = Listening & {
  readonly resolverRule: string;
  readonly asked: readonly string[];
  readonly sent: readonly string[];
  readonly serve: (script: string | null) => void;
};

export async function startVisitCounter(): Promise<VisitCounter> {
  const asked: string[] = [];
  const sent: string[] = [];
  let script: string | null = null;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const { method, url = '', headers } = request;
    asked.push(`${method} ${url} ${JSON.stringify(headers)} ${body}`);
    if (method === 'POST') sent.push(body);
    const corsHeaders = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
    if (method === 'GET' && url.endsWith('.js'))
      response
        .writeHead(script === null ? 404 : 200, { 'content-type': 'text/javascript', ...corsHeaders })
        .end(script ?? '');
    else response.writeHead(method === 'POST' ? 202 : 204, corsHeaders).end();
  };
  const server = createServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const https = await listening(server, 'localhost');
  return {
    ...https,
    resolverRule: `--host-resolver-rules=MAP ${new URL(COUNTER_ORIGIN).host} localhost:${https.port}`,
    asked,
    sent,
    serve: (next) => {
      script = next;
      asked.length = 0;
      sent.length = 0;
    },
  };
}
