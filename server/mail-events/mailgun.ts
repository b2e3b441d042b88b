// Mailgun: failures and complaints. What it signs is a time and a token, not the event; so each token is taken once.
import { createHmac, timingSafeEqual } from 'node:crypto';

import * as z from 'zod/mini';

import {
  BODY_LIMIT_BYTES,
  bounced,
  complained,
  isFresh,
  NOTHING,
  readJson,
  UNREADABLE,
  UNSIGNED,
  type Provider,
} from '#server/mail-events/provider.ts';

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

/** The provider's own word that the address is dead: told by a mail server, or known from before. */
const DEAD = new Set(['bounce', 'suppress-bounce']);
/** Tokens are remembered for as long as a signature is fresh; no provider sends more in that time. */
const MOST_TOKENS = 50_000;

/** @param key MAIL_EVENTS_MAILGUN_KEY */
export function createMailgun(key: string): Provider {
  let tokens = new Map<string, number>();
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
        !isFresh(Number(timestamp) * 1_000, now) ||
        tokens.has(token)
      )
        return UNSIGNED;
      const { event, recipient, severity, reason = '', timestamp: seconds } = call['event-data'];
      const status = call['event-data']['delivery-status'];
      const happenedAt = seconds * 1_000;
      const stored = () => {
        if (tokens.size >= MOST_TOKENS)
          tokens = new Map([...tokens].filter(([, signedAt]) => isFresh(signedAt, now)));
        tokens.set(token, Number(timestamp) * 1_000);
      };
      if (recipient === undefined) return NOTHING;
      if (event === 'complained')
        return { type: 'reports', reports: complained(recipient, happenedAt), stored };
      if (event !== 'failed' || severity !== 'permanent') return NOTHING;
      const answers = [status?.['enhanced-code'] ?? undefined, status?.message ?? undefined];
      const reports = bounced(recipient, { answers, isSure: DEAD.has(reason), happenedAt });
      return { type: 'reports', reports, stored };
    },
  };
}

/** What is compared in constant time must be of one length; a longer or shorter one is wrong in any case. */
const sameLength = (text: string, length: number): Buffer => {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.length === length ? bytes : Buffer.alloc(length);
};
