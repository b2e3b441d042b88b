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
} from '#server/bounces/provider.ts';
import { createSns, SnsMessage, type Fetch } from '#server/bounces/sns.ts';
import type { MailReport } from '#server/bounces/accept-report.ts';

/** https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html; event publishing renames only the first field. */
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

const Reported = z.enum(['Bounce', 'Complaint']);
const Kind = z.union([z.object({ notificationType: Reported }), z.object({ eventType: Reported })]);

export function createSes(topic: string, fetchIt: Fetch): Provider {
  const sns = createSns(topic, fetchIt);
  return {
    name: 'ses',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    read: async ({ body, now }) => {
      const message = readJson(SnsMessage, body.toString('utf8'));
      if (message === null) return UNREADABLE;
      // Checked first, so an old message causes no certificate download.
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
      const { bounce, complaint } = notification ?? {};
      const isUnread = !bounce && !complaint && readJson(Kind, message.Message) !== null;
      // After a topic is set up, SES sends a sentence instead of JSON.
      const reports = notification === null ? [] : reportsOf(notification);
      return { type: 'reports', reports, unread: isUnread ? 1 : 0 };
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
    // The e-mail address exists; its owner unsubscribed at SES.
    const isSure = bounce.bounceSubType !== 'UnsubscribedRecipient';
    return bounce.bouncedRecipients.flatMap(({ emailAddress, status, diagnosticCode }) =>
      isSure
        ? bounced(emailAddress, { answers: [status, diagnosticCode], isSure, happenedAt: bounce.timestamp })
        : [],
    );
  }
  // Some mailbox providers report a complaint without its type.
  if (type === 'Complaint' && complaint && (complaint.complaintFeedbackType ?? 'abuse') === 'abuse')
    return complaint.complainedRecipients.flatMap(({ emailAddress }) =>
      complained(emailAddress, complaint.timestamp),
    );
  return [];
}
