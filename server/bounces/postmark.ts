// Postmark signs nothing: the user and password in its URL are the only proof of origin.
import { createHash, timingSafeEqual } from 'node:crypto';

import * as z from 'zod/mini';

import {
  BODY_LIMIT_BYTES,
  bounced,
  complained,
  IsoTime,
  NOTHING,
  readJson,
  UNREADABLE,
  UNSIGNED,
  type Provider,
} from '#server/bounces/provider.ts';

/** https://postmarkapp.com/developer/webhooks/bounce-webhook, and spam-complaint-webhook */
const Event = z.object({
  RecordType: z.string(),
  Type: z.optional(z.string()),
  Email: z.optional(z.string()),
  BouncedAt: z.optional(IsoTime),
  Details: z.optional(z.string()),
});

/** Other types are temporary, blocked, or caused by the operator. */
const DEAD = new Set(['HardBounce', 'BadEmailAddress']);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

export function createPostmark(login: string): Provider {
  const expected = digest(`Basic ${Buffer.from(login).toString('base64')}`);
  return {
    name: 'postmark',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    read: ({ body, headers }) => {
      if (!timingSafeEqual(digest(headers.authorization ?? ''), expected)) return UNSIGNED;
      const event = readJson(Event, body.toString('utf8'));
      if (event === null) return UNREADABLE;
      const { RecordType, Type = '', Email, BouncedAt: happenedAt, Details } = event;
      const isComplaint = RecordType === 'SpamComplaint' || Type === 'SpamComplaint';
      if (RecordType !== 'Bounce' && !isComplaint) return NOTHING;
      if (Email === undefined || happenedAt === undefined) return UNREADABLE;
      const answers = [Details];
      return {
        type: 'reports',
        reports: isComplaint
          ? complained(Email, happenedAt)
          : bounced(Email, { answers, isSure: DEAD.has(Type), happenedAt }),
      };
    },
  };
}
