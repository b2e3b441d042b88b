import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import type { LeadEventBody } from '#server/webhooks/webhook-events.ts';
import { listening, type Listening } from '#testing/listening.ts';

export type Received = {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly event: LeadEventBody;
  /** Repeated deliveries have the same ID. */
  readonly id: string;
};

type Respond = (received: Received, response: ServerResponse) => void;

export const accept: Respond = (_, response) => void response.writeHead(204).end();
export const refuse: Respond = (_, response) => void response.writeHead(503).end();

export type Receiver = Listening & {
  readonly url: string;
  readonly received: readonly Received[];
  /** Replaces the response to the following events. */
  readonly respondWith: (next: Respond) => void;
};

export async function startReceiver(first: Respond = accept): Promise<Receiver> {
  let respond = first;
  const received: Received[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const { headers } = request;
    const delivery: Received = {
      headers,
      text: body,
      event: JSON.parse(body) as LeadEventBody,
      id: String(headers['webhook-id']),
    };
    received.push(delivery);
    respond(delivery, response);
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  const http = await listening(server);
  // Anyone who knows the path can send events, so it is secret.
  const url = `http://127.0.0.1:${http.port}/a-secret-path`;
  const respondWith = (next: Respond) => {
    respond = next;
  };
  return { ...http, url, received, respondWith };
}

export async function withReceiver(
  respond: Respond | undefined,
  test: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  await using receiver = await startReceiver(respond);
  await test(receiver);
}
