// Mailgun signs a time and a token but not the event, so each token is accepted once.
import { createHmac, timingSafeEqual } from 'node:crypto';

import * as z from 'zod/mini';

import {
  BODY_LIMIT_BYTES,
  bounced,
  complained,
  freshUntil,
  isFresh,
  readJson,
  UNREADABLE,
  UNSIGNED,
  type Provider,
} from '#server/bounces/provider.ts';
import type { MailReport } from '#server/bounces/accept-report.ts';

/** https://documentation.mailgun.com/docs/mailgun/user-manual/events/webhooks */
const Call = z.object({
  signature: z.object({
    timestamp: z.string().check(z.regex(/^\d{1,12}$/)),
    token: z.string().check(z.maxLength(200)),
    signature: z.string(),
  }),
  'event-data': z.object({
    event: z.string(),
    /** Seconds, with fractions. */
    timestamp: z.number(),
    recipient: z.optional(z.string()),
    severity: z.optional(z.string()),
    reason: z.optional(z.string()),
    'delivery-status': z.optional(
      z.object({
        message: z.optional(z.nullable(z.string())),
        'enhanced-code': z.optional(z.nullable(z.string())),
      }),
    ),
  }),
});

/** Refused now, or suppressed after an earlier refusal. */
const DEAD = new Set(['bounce', 'suppress-bounce']);

export function createMailgun(key: string): Provider {
  return {
    name: 'mailgun',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    read: ({ body, now }) => {
      const call = readJson(Call, body.toString('utf8'));
      if (call === null) return UNREADABLE;
      const { timestamp, token, signature } = call.signature;
      const expected = createHmac('sha256', key)
        .update(timestamp + token)
        .digest('hex');
      if (
        !timingSafeEqual(sameLength(signature, expected.length), Buffer.from(expected)) ||
        !isFresh(Number(timestamp) * 1_000, now)
      )
        return UNSIGNED;
      // Keyed by the signature, because the same digits can be divided differently into time and token.
      const once = { key: `mailgun: ${expected}`, until: freshUntil(Number(timestamp) * 1_000) };
      return { type: 'reports', reports: reportsOf(call['event-data']), once };
    },
  };
}

function reportsOf({
  event,
  recipient = '',
  severity,
  reason = '',
  timestamp: seconds,
  'delivery-status': status,
}: z.infer<typeof Call>['event-data']): MailReport[] {
  const happenedAt = seconds * 1_000;
  if (event === 'complained') return complained(recipient, happenedAt);
  if (event !== 'failed' || severity !== 'permanent') return [];
  const answers = [status?.['enhanced-code'] ?? undefined, status?.message ?? undefined];
  return bounced(recipient, { answers, isSure: DEAD.has(reason), happenedAt });
}

const sameLength = (text: string, length: number): Buffer => {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.length === length ? bytes : Buffer.alloc(length);
};
