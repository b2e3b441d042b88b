// Hands one event to one endpoint, signed as Standard Webhooks has it (https://www.standardwebhooks.com). Whatever is at the
// other end: it takes no more than its time, is not read for more than it needs, and is nowhere but where it may be.
import { Agent as HttpAgent, request as requestInClear, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestOverTls, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';

import { Webhook } from 'standardwebhooks';

import {
  addressRefusal,
  AddressRefused,
  guardedLookup,
  resolveOnThisMachine,
  type AddressRules,
  type ResolveName,
} from '#server/platform/public-addresses.ts';
import type { Endpoint } from '#server/webhooks/webhook-endpoints.ts';
import type { LeadEventBody } from '#server/webhooks/webhook-events.ts';
import { slackMessage } from '#server/webhooks/slack-message.ts';

/** For everything: name, connection, TLS, answer. */
const TIMEOUT_MS = 10_000;
/** An answer says all it has to say with its status. What is read of the rest keeps the connection for the next event. */
const MOST_READ_BYTES = 16_384;

export type WebhookSendOutcome =
  /** `answer` is a status, or why there was none: never a word of the receiver. */
  | { readonly type: 'sent'; readonly answer: string }
  /** 410: this endpoint wants it never more. */
  | { readonly type: 'gone'; readonly answer: string }
  /** retryAfterMs: the receiver asks for so much time; null when it says nothing. */
  | { readonly type: 'failed for now'; readonly answer: string; readonly retryAfterMs: number | null };

/** One event as it goes out. */
type Delivery = {
  readonly id: string;
  /** JSON of a {@link LeadEventBody}. */
  readonly body: string;
  /** When it is sent: receivers refuse what is signed for another time. Milliseconds since 1970. */
  readonly now: number;
};

export type WebhookSender = {
  /** Never throws: a failure is an outcome. */
  readonly send: (endpoint: Endpoint, delivery: Delivery, signal: AbortSignal) => Promise<WebhookSendOutcome>;
  /** Ends connections that are kept alive. */
  readonly close: () => void;
};

/**
 * @param parts secrets: `whsec_…`, newest first; each signs, so that a receiver may know any of them. resolve: for tests.
 *   timeoutMs: for tests
 */
export function createWebhookSender({
  secrets,
  allowPrivate,
  resolve = resolveOnThisMachine,
  timeoutMs = TIMEOUT_MS,
}: {
  secrets: readonly string[];
  allowPrivate: boolean;
  resolve?: ResolveName | undefined;
  timeoutMs?: number | undefined;
}): WebhookSender {
  const signers = secrets.map((secret) => new Webhook(secret));
  // No bound for a host: one endpoint would wait for another. The worker bounds each.
  const agentOptions = { keepAlive: true, maxFreeSockets: 4 };
  const agents = { 'http:': new HttpAgent(agentOptions), 'https:': new HttpsAgent(agentOptions) };

  const send = async (
    { url, takes }: Endpoint,
    { id, body, now }: Delivery,
    signal: AbortSignal,
  ): Promise<WebhookSendOutcome> => {
    const isInClear = url.protocol === 'http:';
    const rules: AddressRules = { allowPrivate, allowPublic: !isInClear };
    // A number is not looked up.
    const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const refusal = isIP(literal) === 0 ? null : addressRefusal(literal, rules);
    if (refusal !== null) return failed(refusal);

    const payload = takes === 'messages' ? slackMessage(JSON.parse(body) as LeadEventBody) : body;
    const timestamp = new Date(now);
    const options: RequestOptions = {
      method: 'POST',
      agent: agents[isInClear ? 'http:' : 'https:'],
      lookup: guardedLookup(resolve, rules),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'verified-lead-page',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now / 1000)),
        'webhook-signature': signers.map((signer) => signer.sign(id, timestamp, payload)).join(' '),
      },
    };
    const first = await attempt(url, options, payload, signal);
    // It came over a connection that the receiver was about to end: that says nothing about the receiver.
    const again = first.type === 'lost connection' ? await attempt(url, options, payload, signal) : first;
    return again.type === 'lost connection' ? failed(again.answer) : again;
  };

  const attempt = (url: URL, options: RequestOptions, payload: string, signal: AbortSignal) =>
    new Promise<WebhookSendOutcome | { readonly type: 'lost connection'; readonly answer: string }>(
      (settle) => {
        let outcome: WebhookSendOutcome | null = null;
        let broke: Error | null = null;
        const request = (url.protocol === 'http:' ? requestInClear : requestOverTls)(url, options);
        const end = (reason: string) => request.destroy(Object.assign(new Error(reason), { code: reason }));
        const timer = setTimeout(() => end('timed out'), timeoutMs);
        const stop = () => end('stopped');
        signal.addEventListener('abort', stop);
        if (signal.aborted) stop();
        request.on('response', (response) => {
          outcome = outcomeOf(response);
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MOST_READ_BYTES) response.destroy();
          });
          // The status came; what breaks after it changes nothing.
          response.on('error', () => {});
        });
        request.on('error', (error) => {
          broke ??= error;
        });
        request.on('close', () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', stop);
          const answer = broke === null ? 'no answer' : whatBroke(broke);
          if (outcome !== null) settle(outcome);
          else if (request.reusedSocket && answer === 'ECONNRESET')
            settle({ type: 'lost connection', answer });
          else settle(failed(answer));
        });
        request.end(payload);
      },
    );

  return {
    send,
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

const failed = (answer: string, retryAfterMs: number | null = null): WebhookSendOutcome => ({
  type: 'failed for now',
  answer,
  retryAfterMs,
});

function outcomeOf({ statusCode = 0, headers }: IncomingMessage): WebhookSendOutcome {
  const answer = String(statusCode);
  if (statusCode >= 200 && statusCode < 300) return { type: 'sent', answer };
  if (statusCode === 410) return { type: 'gone', answer };
  if (statusCode >= 300 && statusCode < 400) return failed(`${answer}: redirects are not followed`);
  const seconds = /^\d{1,6}$/.test(headers['retry-after'] ?? '') ? Number(headers['retry-after']) : null;
  return failed(answer, seconds === null ? null : seconds * 1000);
}

/** Names tell nothing about anybody; messages may. */
function whatBroke(error: Error): string {
  if (error instanceof AddressRefused) return error.message;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
