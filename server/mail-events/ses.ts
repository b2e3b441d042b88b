// Amazon SES: bounces and complaints, by way of a topic of Amazon SNS.
import * as z from 'zod/mini';

import {
  BODY_LIMIT_BYTES,
  bounced,
  complained,
  isFresh,
  IsoTime,
  NOTHING,
  readJson,
  UNREADABLE,
  UNSIGNED,
  type Provider,
} from '#server/mail-events/provider.ts';
import { createSns, SnsMessage, type Fetch } from '#server/mail-events/sns.ts';
import type { MailReport } from '#server/mail-events/take-report.ts';

/**
 * https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html; with event publishing it is the same, but for the name of
 * its first field.
 */
const Notification = z.object({
  notificationType: z.optional(z.string()),
  eventType: z.optional(z.string()),
  bounce: z.optional(
    z.object({
      bounceType: z.string(),
      bounceSubType: z.optional(z.string()),
      bouncedRecipients: z.array(
        z.object({
          emailAddress: z.string(),
          status: z.optional(z.string()),
          diagnosticCode: z.optional(z.string()),
        }),
      ),
      timestamp: IsoTime,
    }),
  ),
  complaint: z.optional(
    z.object({
      complainedRecipients: z.array(z.object({ emailAddress: z.string() })),
      complaintFeedbackType: z.optional(z.nullable(z.string())),
      timestamp: IsoTime,
    }),
  ),
});

/** @param topic MAIL_EVENTS_SES_TOPIC */
export function createSes(topic: string, fetchIt: Fetch): Provider {
  const sns = createSns(topic, fetchIt);
  return {
    name: 'ses',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    read: async ({ body, now }) => {
      const message = readJson(SnsMessage, body.toString('utf8'));
      if (message === null) return UNREADABLE;
      // The time first: nothing is fetched for what is too old.
      if (!isFresh(Date.parse(message.Timestamp), now)) return UNSIGNED;
      const judged = await sns.judge(message, now);
      if (judged === 'later') return { type: 'later' };
      if (judged === 'forged') return UNSIGNED;
      if (message.Type === 'SubscriptionConfirmation') {
        const answer = await sns.confirm(message);
        return answer === 'confirmed' ? NOTHING : answer === 'later' ? { type: 'later' } : UNSIGNED;
      }
      if (message.Type !== 'Notification') return NOTHING;
      const notification = readJson(Notification, message.Message);
      // SES says in a sentence of its own that a topic was set up.
      return notification === null ? NOTHING : { type: 'reports', reports: reportsOf(notification) };
    },
  };
}

function reportsOf({
  notificationType,
  eventType,
  bounce,
  complaint,
}: z.infer<typeof Notification>): MailReport[] {
  const type = notificationType ?? eventType;
  if (type === 'Bounce' && bounce?.bounceType === 'Permanent') {
    // Its owner unsubscribed at SES: mail to it came to nothing, and it exists.
    const isSure = bounce.bounceSubType !== 'UnsubscribedRecipient';
    return bounce.bouncedRecipients.flatMap(({ emailAddress, status, diagnosticCode }) =>
      isSure
        ? bounced(emailAddress, { answers: [status, diagnosticCode], isSure, happenedAt: bounce.timestamp })
        : [],
    );
  }
  // None is given where the mailbox provider tells no more than that somebody complained.
  if (type === 'Complaint' && complaint && (complaint.complaintFeedbackType ?? 'abuse') === 'abuse')
    return complaint.complainedRecipients.flatMap(({ emailAddress }) =>
      complained(emailAddress, complaint.timestamp),
    );
  return [];
}
