// Follows Standard Webhooks: https://www.standardwebhooks.com
import { type IncomingMessage, request as requestInClear } from 'node:http';
import { request as requestOverTls, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';

import { Webhook } from 'standardwebhooks';

import { errorCode } from '#server/platform/system-errors.ts';
import {
  addressRefusal,
  AddressRefused,
  type AddressRules,
  bareHost,
  guardedLookup,
  type ResolveName,
  resolveOnThisMachine,
} from '#server/platform/ip-addresses.ts';
import type { Endpoint, LeadEventBody } from '#server/webhooks/webhook-events.ts';
import { displayedAnswer, labelAndAnswer } from '#shared/own-fields.ts';

/** Covers lookup, connection, TLS and response. */
const TIMEOUT_MS = 10_000;

export type WebhookSendOutcome =
  /** `response` is the status or the error, never the receiver's text. */
  | { readonly type: 'sent'; readonly response: string }
  /** The receiver responded with 410, so this event must not be sent again. */
  | { readonly type: 'gone'; readonly response: string }
  /** retryAfterMs is null if the receiver doesn't state it. */
  | { readonly type: 'failed for now'; readonly response: string; readonly retryAfterMs: number | null };

type Delivery = {
  readonly id: string;
  readonly body: string;
  /** The time to sign. Receivers refuse times that differ much from their own. */
  readonly now: number;
};

/** Never throws; a failure is an outcome. */
export type SendWebhook = (
  endpoint: Endpoint,
  delivery: Delivery,
  signal: AbortSignal,
) => Promise<WebhookSendOutcome>;

/** @param parts secrets: `whsec_…`, newest first; all of them sign, so a receiver needs to know only one */
export function createWebhookSender(parts: {
  secrets: readonly string[];
  allowPrivate: boolean;
  resolve?: ResolveName | undefined;
  timeoutMs?: number | undefined;
}): SendWebhook {
  const { secrets, allowPrivate, resolve = resolveOnThisMachine, timeoutMs = TIMEOUT_MS } = parts;
  const signers = secrets.map((secret) => new Webhook(secret));
  return async ({ url, takes }, { id, body, now }, signal) => {
    const isInClear = url.protocol === 'http:';
    const rules: AddressRules = { allowPrivate, allowPublic: !isInClear };
    // An IP address needs no lookup, so guardedLookup would not check it.
    const host = bareHost(url.hostname);
    const refusal = isIP(host) === 0 ? null : addressRefusal(host, rules);
    if (refusal !== null) return failed(refusal);

    const payload = takes === 'messages' ? slackMessage(JSON.parse(body) as LeadEventBody) : body;
    const timestamp = new Date(now);
    const options: RequestOptions = {
      method: 'POST',
      // A new connection each time: events are few, and a kept one may be closed just before a request.
      agent: false,
      lookup: guardedLookup(resolve, rules),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'verified-lead-page',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now / 1000)),
        'webhook-signature': signers.map((signer) => signer.sign(id, timestamp, payload)).join(' '),
      },
    };
    return post(url, options, payload, { stop: signal, timeout: AbortSignal.timeout(timeoutMs), now });
  };
}

const post = (
  url: URL,
  options: RequestOptions,
  payload: string,
  { stop, timeout, now }: { readonly stop: AbortSignal; readonly timeout: AbortSignal; readonly now: number },
): Promise<WebhookSendOutcome> =>
  new Promise((resolve) => {
    const fail = (error: unknown) =>
      resolve(failed(stop.aborted ? 'stopped' : timeout.aborted ? 'timed out' : describeFailure(error)));
    try {
      const signal = AbortSignal.any([stop, timeout]);
      const request = (url.protocol === 'http:' ? requestInClear : requestOverTls)(url, {
        ...options,
        signal,
      });
      request.on('response', (response) => {
        resolve(outcomeOf(response, now));
        // Only the status counts, but the receiver may finish.
        response.on('error', () => {}).resume();
      });
      request.on('error', fail);
      request.on('close', () => fail('no response'));
      request.end(payload);
    } catch (error) {
      // Node refuses some URLs, such as one with a bare % in its password.
      fail(error);
    }
  });

const failed = (response: string, retryAfterMs: number | null = null): WebhookSendOutcome => ({
  type: 'failed for now',
  response,
  retryAfterMs,
});

function outcomeOf({ statusCode = 0, headers }: IncomingMessage, now: number): WebhookSendOutcome {
  const response = String(statusCode);
  if (statusCode >= 200 && statusCode < 300) return { type: 'sent', response };
  if (statusCode === 410) return { type: 'gone', response };
  if (statusCode >= 300 && statusCode < 400) return failed(`${response}: redirects are not followed`);
  return failed(response, readRetryAfter(headers['retry-after'] ?? '', now));
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
function readRetryAfter(text: string, now: number): number | null {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const waitMs = text.endsWith(' GMT') ? Date.parse(text) - now : NaN;
  return Number.isNaN(waitMs) ? null : waitMs;
}

/** Returns the error's code or name. Messages may contain personal data. */
function describeFailure(error: unknown): string {
  if (error instanceof AddressRefused) return error.message;
  return errorCode(error) ?? (error instanceof Error ? error.name : String(error));
}

/** Returns the body for Slack. A visitor's words cannot mention anyone or start a new line. */
function slackMessage({ type, data: { lead } }: LeadEventBody): string {
  const facts: readonly (readonly [name: string, value: string])[] =
    'email' in lead
      ? [
          ['name', lead.name],
          ['company', lead.company],
          ['email', lead.email],
          ...Object.values(lead.answers ?? {}).map(
            ({ label, answer }) => [label, displayedAnswer(answer)] as const,
          ),
          ['source', lead.source],
        ]
      : [['id', lead.id]];
  const lines = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => labelAndAnswer(escapeForSlack(name), escapeForSlack(value)));
  return JSON.stringify({
    text: [type, ...lines].join('\n'),
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
  });
}

/** https://docs.slack.dev/messaging/formatting-message-text */
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Keeps joiners, because names and emoji need them. */
const escapeForSlack = (text: string): string =>
  text
    .replaceAll(/[[\p{C}\s]--[\u200C\u200D]]+/gv, ' ')
    .replaceAll(/[&<>]/g, (sign) => ESCAPES[sign] ?? sign);
