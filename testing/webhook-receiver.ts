import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';

import { freePort } from '#testing/free-port.ts';
import type { LeadEventBody } from '#server/webhooks/webhook-events.ts';

export type Received = {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly event: LeadEventBody;
  /** Repeated deliveries have the same ID. */
  readonly id: string;
};

export type Receiver = {
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  readonly close: () => Promise<void>;
} & AsyncDisposable;

export async function startReceiver(
  answer: (received: Received, response: ServerResponse) => void = (_, response) =>
    void response.writeHead(204).end(),
  wanted?: number,
): Promise<Receiver> {
  const received: Received[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
    const text = Buffer.concat(chunks).toString('utf8');
    const { headers } = request;
    const one: Received = {
      headers,
      text,
      event: JSON.parse(text) as LeadEventBody,
      id: String(headers['webhook-id']),
    };
    received.push(one);
    answer(one, response);
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  const port = wanted ?? (await freePort());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    // Anyone who knows the path can send events, so it is secret.
    url: `http://127.0.0.1:${port}/a-secret-path`,
    port,
    received,
    close,
    [Symbol.asyncDispose]: close,
  };
}

export async function withReceiver(
  answer: Parameters<typeof startReceiver>[0],
  test: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  await using receiver = await startReceiver(answer);
  await test(receiver);
}
