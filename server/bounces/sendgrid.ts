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
} from '#server/bounces/provider.ts';
import type { MailReport } from '#server/bounces/accept-report.ts';

/** Other events in the batch need not have this shape. */
const Kind = z.object({ event: z.enum(['bounce', 'spamreport']) });

const Text = z.optional(z.nullable(z.string()));
/** https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event */
const Event = z.extend(Kind, {
  email: z.string(),
  /** Seconds. */
  timestamp: z.coerce.number().check(z.positive()),
  /** `bounce`, or `blocked` if the address isn't the reason. */
  type: Text,
  status: Text,
  reason: Text,
  bounce_classification: Text,
});

/** SendGrid sends a batch at 768 kB. */
const BATCH_LIMIT_BYTES = 1024 * 1024;
const EVENTS_MAX = 10_000;
const Batch = z.array(z.unknown()).check(z.maxLength(EVENTS_MAX));

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
      const batch = readJson(Batch, body.toString('utf8'));
      if (batch === null) return UNREADABLE;
      const read = batch
        .filter((event) => Kind.safeParse(event).success)
        .map((event) => Event.safeParse(event).data);
      const events = read.filter((event) => event !== undefined);
      return {
        type: 'reports',
        reports: events.flatMap(reportsOf),
        // Counted, not refused, because the rest of the batch comes only once.
        unread: read.length - events.length,
      };
    },
  };
}

function reportsOf({
  event,
  email,
  timestamp,
  type,
  status,
  reason,
  bounce_classification: classification,
}: z.infer<typeof Event>): MailReport[] {
  const happenedAt = timestamp * 1_000;
  if (event === 'spamreport') return complained(email, happenedAt);
  if (type === 'blocked') return [];
  return bounced(email, {
    answers: [status ?? undefined, reason ?? undefined],
    isSure: (classification ?? 'Invalid Address') === 'Invalid Address',
    happenedAt,
  });
}
