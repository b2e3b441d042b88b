// Twilio SendGrid: a batch of events, signed with the key of its signed event webhook.
import { createPublicKey, verify } from 'node:crypto';

import * as z from 'zod/mini';

import {
  bounced,
  complained,
  isFresh,
  readJson,
  UNREADABLE,
  UNSIGNED,
  type Provider,
} from '#server/mail-events/provider.ts';
import type { MailReport } from '#server/mail-events/take-report.ts';

/** https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event */
const Event = z.object({
  event: z.string(),
  email: z.optional(z.string()),
  /** Seconds. */
  timestamp: z.number(),
  /** `bounce`, or `blocked` when the address is not the reason. */
  type: z.optional(z.string()),
  status: z.optional(z.string()),
  reason: z.optional(z.string()),
  bounce_classification: z.optional(z.string()),
});

/** SendGrid sends a batch at 768 kB. */
const BATCH_LIMIT_BYTES = 1024 * 1024;
const EVENTS_MAX = 10_000;
const Batch = z.array(z.unknown()).check(z.maxLength(EVENTS_MAX));

/** @param key MAIL_EVENTS_SENDGRID_KEY */
export function createSendGrid(key: string): Provider {
  const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
  return {
    name: 'sendgrid',
    bodyLimitBytes: BATCH_LIMIT_BYTES,
    read: ({ body, headers, now }) => {
      const signature = headers['x-twilio-email-event-webhook-signature'];
      const timestamp = headers['x-twilio-email-event-webhook-timestamp'];
      if (typeof signature !== 'string' || typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp))
        return UNSIGNED;
      const signed = Buffer.concat([Buffer.from(timestamp), body]);
      if (
        !verify('sha256', signed, publicKey, Buffer.from(signature, 'base64')) ||
        !isFresh(Number(timestamp) * 1_000, now)
      )
        return UNSIGNED;
      const events = readJson(Batch, body.toString('utf8'));
      return events === null ? UNREADABLE : { type: 'reports', reports: events.flatMap(reportsOf) };
    },
  };
}

/** An event of another shape is one of those that are ignored: it must not refuse the others, which come in no second batch. */
function reportsOf(unread: unknown): MailReport[] {
  const { data } = Event.safeParse(unread);
  return data === undefined ? [] : reportsOfEvent(data);
}

function reportsOfEvent({
  event,
  email,
  timestamp,
  type,
  status,
  reason,
  bounce_classification: classification = 'Invalid Address',
}: z.infer<typeof Event>): MailReport[] {
  if (email === undefined) return [];
  const happenedAt = timestamp * 1_000;
  if (event === 'spamreport') return complained(email, happenedAt);
  if (event !== 'bounce' || type === 'blocked') return [];
  return bounced(email, {
    answers: [status, reason],
    isSure: classification === 'Invalid Address',
    happenedAt,
  });
}
