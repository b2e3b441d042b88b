// Defines for each mail provider the shape of its events, how a call proves its origin, and which events count.
import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import * as z from 'zod/mini';

import type { MailReport, SingleUseKey } from '#server/bounces/accept-report.ts';
import { createSnsVerifier, IsoTime, SnsMessage, type Fetch } from '#server/bounces/sns.ts';
import { CLOCKS_DIFFER_MS } from '#server/platform/time.ts';
import { meaningOfAll } from '#server/platform/mail-server-replies.ts';
import { isEqual } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { orNull } from '#shared/or-null.ts';

type Call = {
  /** In raw bytes, because signatures cover them. */
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly now: number;
};

type Verdict =
  | {
      readonly type: 'reports';
      readonly reports: readonly MailReport[];
      /** Set if the signature doesn't cover the reports, so it is accepted only once. */
      readonly once?: SingleUseKey;
      /** Number of bounces and complaints in an unknown shape, if the provider sends the others only once. */
      readonly unread?: number;
    }
  /** The call is forged or old. */
  | { readonly type: 'not proven' }
  | { readonly type: 'unreadable' }
  /** The certificate cannot be fetched at the moment. */
  | { readonly type: 'later' };

export type Provider = {
  readonly name: string;
  readonly bodyLimitBytes: number;
  readonly read: (call: Call) => Promise<Verdict> | Verdict;
};

export const providersOf = (
  { sesTopic, postmarkLogin, mailgunKey, sendgridKey }: Config['mailEvents'],
  httpFetch: Fetch,
): Provider[] => [
  ...(sesTopic === null ? [] : [createSes(sesTopic, httpFetch)]),
  ...(postmarkLogin === null ? [] : [createPostmark(postmarkLogin)]),
  ...(mailgunKey === null ? [] : [createMailgun(mailgunKey)]),
  ...(sendgridKey === null ? [] : [createSendGrid(sendgridKey)]),
];

const NOT_PROVEN: Verdict = { type: 'not proven' };
const UNREADABLE: Verdict = { type: 'unreadable' };
const NO_REPORTS: Verdict = { type: 'reports', reports: [] };

const BODY_LIMIT_BYTES = 256 * 1024;

/** An older signature may have been intercepted, and one from the future comes from a wrong clock. */
const FRESH_FOR_MS = 15 * 60_000;

/** @param signedAt NaN never counts as fresh */
const isFresh = (signedAt: number, now: number): boolean => Math.abs(now - signedAt) <= FRESH_FOR_MS;

const readJson = <Shape>(schema: z.ZodMiniType<Shape>, json: Buffer | string): Shape | null =>
  schema.safeParse(orNull<unknown>(() => JSON.parse(json.toString()))).data ?? null;

/**
 * Reports an e-mail address if the mail server replied that it does not exist, or if the provider is sure and the reply is unclear.
 * @param bounce isSure: according to the provider, the bounce is permanent and caused by the e-mail address
 */
function bounced(
  email: string,
  bounce: { replies: readonly (string | null | undefined)[]; isSure: boolean; happenedAt: number },
): MailReport[] {
  const { isSure, happenedAt } = bounce;
  const replies = bounce.replies.filter((reply) => typeof reply === 'string');
  const meaning = meaningOfAll(replies);
  const isDead = meaning === 'no such address' || (isSure && meaning === 'unclear');
  const note = replies.join(' ') || null;
  return isDead ? [{ reason: 'bounced', email: withoutName(email), note, happenedAt }] : [];
}

const complained = (email: string, happenedAt: number): MailReport[] => [
  { reason: 'complained', email: withoutName(email), note: null, happenedAt },
];

/** SES may report the full mailbox: "Ada" <ada@example.com> */
const withoutName = (text: string): string => /<([^<>]*)>\s*$/.exec(text)?.[1] ?? text;

/** https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html; event publishing renames only the first field. */
const SesNotification = z.object({
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
      /** `OnAccountSuppressionList`: SES sent nothing, because of an earlier complaint, perhaps about another sender. */
      complaintSubType: z.optional(z.nullable(z.string())),
      timestamp: IsoTime,
    }),
  ),
});

const SesType = z.enum(['Bounce', 'Complaint']);
const SesReport = z.union([z.object({ notificationType: SesType }), z.object({ eventType: SesType })]);

function createSes(topic: string, httpFetch: Fetch): Provider {
  const verifyMessage = createSnsVerifier(topic, httpFetch);
  return {
    name: 'ses',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    read: async ({ body, now }) => {
      const message = readJson(SnsMessage, body);
      if (message === null) return UNREADABLE;
      // Checked first, so old messages don't cause certificate downloads.
      if (!isFresh(Date.parse(message.Timestamp), now)) return NOT_PROVEN;
      const result = await verifyMessage(message, now);
      if (result !== 'accepted') return { type: result };
      if (message.Type !== 'Notification') return NO_REPORTS;
      const notification = readJson(SesNotification, message.Message);
      const { bounce, complaint } = notification ?? {};
      const isUnread = !bounce && !complaint && readJson(SesReport, message.Message) !== null;
      // After a topic is set up, SES sends a sentence instead of JSON.
      const reports = notification === null ? [] : sesReports(notification);
      return { type: 'reports', reports, unread: isUnread ? 1 : 0 };
    },
  };
}

function sesReports(notification: z.infer<typeof SesNotification>): MailReport[] {
  const { notificationType, eventType, bounce, complaint } = notification;
  const type = notificationType ?? eventType;
  if (type === 'Bounce' && bounce?.bounceType === 'Permanent') {
    // The e-mail address exists, but its owner unsubscribed at SES.
    if (bounce.bounceSubType === 'UnsubscribedRecipient') return [];
    return bounce.bouncedRecipients.flatMap(({ emailAddress, status, diagnosticCode }) =>
      bounced(emailAddress, {
        replies: [status, diagnosticCode],
        isSure: true,
        happenedAt: bounce.timestamp,
      }),
    );
  }
  const feedback = complaint?.complaintSubType ?? complaint?.complaintFeedbackType ?? 'abuse';
  if (type === 'Complaint' && complaint && feedback === 'abuse')
    return complaint.complainedRecipients.flatMap(({ emailAddress }) =>
      complained(emailAddress, complaint.timestamp),
    );
  return [];
}

/** https://postmarkapp.com/developer/webhooks/bounce-webhook, and spam-complaint-webhook */
const PostmarkEvent = z.object({
  RecordType: z.string(),
  Type: z.optional(z.string()),
  Email: z.optional(z.string()),
  BouncedAt: z.optional(IsoTime),
  Details: z.optional(z.string()),
});

/** Other types are temporary, caused by a block, or caused by the operator. */
const POSTMARK_DEAD = new Set(['HardBounce', 'BadEmailAddress']);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Postmark doesn't sign its calls, so the user and password in the webhook URL are the only proof of origin. */
function createPostmark(login: string): Provider {
  const expected = digest(`Basic ${Buffer.from(login).toString('base64')}`);
  return {
    name: 'postmark',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    read: ({ body, headers }) => {
      if (!timingSafeEqual(digest(headers.authorization ?? ''), expected)) return NOT_PROVEN;
      const event = readJson(PostmarkEvent, body);
      if (event === null) return UNREADABLE;
      const { RecordType, Type = '', Email, BouncedAt: happenedAt, Details } = event;
      const isComplaint = RecordType === 'SpamComplaint' || Type === 'SpamComplaint';
      if (RecordType !== 'Bounce' && !isComplaint) return NO_REPORTS;
      if (Email === undefined || happenedAt === undefined) return UNREADABLE;
      const reports = isComplaint
        ? complained(Email, happenedAt)
        : bounced(Email, { replies: [Details], isSure: POSTMARK_DEAD.has(Type), happenedAt });
      return { type: 'reports', reports };
    },
  };
}

/** https://documentation.mailgun.com/docs/mailgun/user-manual/events/webhooks */
const MailgunCall = z.object({
  signature: z.object({
    timestamp: z.string().check(z.regex(/^\d{1,12}$/)),
    token: z.string().check(z.maxLength(200)),
    signature: z.string(),
  }),
  'event-data': z.object({
    event: z.string(),
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

/** E-mail addresses refused now, or suppressed by Mailgun after an earlier refusal. */
const MAILGUN_DEAD = new Set(['bounce', 'suppress-bounce']);

/** Mailgun signs a time and a token but not the event, so each token is accepted only once. */
function createMailgun(key: string): Provider {
  return {
    name: 'mailgun',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    read: ({ body, now }) => {
      const call = readJson(MailgunCall, body);
      if (call === null) return UNREADABLE;
      const { timestamp, token, signature } = call.signature;
      const signedAt = Number(timestamp) * 1_000;
      const expected = createHmac('sha256', key)
        .update(timestamp + token)
        .digest('hex');
      if (!isEqual(expected, signature) || !isFresh(signedAt, now)) return NOT_PROVEN;
      return {
        type: 'reports',
        reports: mailgunReports(call['event-data']),
        once: {
          // The same digits could be split differently into time and token, so the signature serves as the key.
          key: `mailgun: ${expected}`,
          // By then, no process accepts the token as fresh.
          until: signedAt + FRESH_FOR_MS + CLOCKS_DIFFER_MS,
        },
      };
    },
  };
}

function mailgunReports({
  event,
  recipient = '',
  severity,
  reason = '',
  timestamp: seconds,
  'delivery-status': status,
}: z.infer<typeof MailgunCall>['event-data']): MailReport[] {
  const happenedAt = seconds * 1_000;
  if (event === 'complained') return complained(recipient, happenedAt);
  if (event !== 'failed' || severity !== 'permanent') return [];
  const replies = [status?.['enhanced-code'], status?.message];
  return bounced(recipient, { replies, isSure: MAILGUN_DEAD.has(reason), happenedAt });
}

/** Other events in the batch may have other shapes. */
const SendGridReport = z.object({ event: z.enum(['bounce', 'spamreport']) });

const TextOrNull = z.optional(z.nullable(z.string()));
/** https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event */
const SendGridEvent = z.extend(SendGridReport, {
  email: z.string(),
  timestamp: z.coerce.number().check(z.positive()),
  /** `bounce`, or `blocked` if the e-mail address isn't the cause. */
  type: TextOrNull,
  status: TextOrNull,
  reason: TextOrNull,
  bounce_classification: TextOrNull,
});

/** SendGrid sends a batch at 768 kB. */
const BATCH_LIMIT_BYTES = 1024 * 1024;
const SendGridBatch = z.array(z.unknown()).check(z.maxLength(10_000));

function createSendGrid(key: string): Provider {
  const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
  return {
    name: 'sendgrid',
    bodyLimitBytes: BATCH_LIMIT_BYTES,
    read: ({ body, headers, now }) => {
      const signature = headers['x-twilio-email-event-webhook-signature'];
      const timestamp = headers['x-twilio-email-event-webhook-timestamp'];
      if (typeof signature !== 'string' || typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp))
        return NOT_PROVEN;
      const signed = Buffer.concat([Buffer.from(timestamp), body]);
      const isSigned = verify('sha256', signed, publicKey, Buffer.from(signature, 'base64'));
      if (!isSigned || !isFresh(Number(timestamp) * 1_000, now)) return NOT_PROVEN;
      const batch = readJson(SendGridBatch, body);
      if (batch === null) return UNREADABLE;
      const read = batch
        .filter((event) => SendGridReport.safeParse(event).success)
        .map((event) => SendGridEvent.safeParse(event).data);
      const events = read.filter((event) => event !== undefined);
      return {
        type: 'reports',
        reports: events.flatMap(sendGridReports),
        // Counted instead of refused, because SendGrid sends the rest of the batch only once.
        unread: read.length - events.length,
      };
    },
  };
}

function sendGridReports(event: z.infer<typeof SendGridEvent>): MailReport[] {
  const happenedAt = event.timestamp * 1_000;
  if (event.event === 'spamreport') return complained(event.email, happenedAt);
  if (event.type === 'blocked') return [];
  return bounced(event.email, {
    replies: [event.status, event.reason],
    isSure: (event.bounce_classification ?? 'Invalid Address') === 'Invalid Address',
    happenedAt,
  });
}
