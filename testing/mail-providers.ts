// Calls contain the events from the providers' documentation, signed with test keys.
import assert from 'node:assert/strict';
import { createHmac, createSign, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';

import { TEST_SNS_CERTIFICATE, TEST_SNS_KEY } from '#testing/certificate.ts';
import { askAndReceive } from '#testing/lead-calls.ts';
import { listening } from '#testing/listening.ts';
import { withServer, type ServerOptions, type ServerUnderTest } from '#testing/server-under-test.ts';

export const EMAIL = 'ada@example.com';
export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:guide-mail';
export const SNS = 'https://sns.eu-west-1.amazonaws.com';
export const CERTIFICATE_PATH = '/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';
export const LOGIN = 'postmark:0123456789abcdef0123456789abcdef';
export const MAILGUN_KEY = '0123456789abcdef0123456789abcdef';
const SENDGRID = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

const ENV = {
  MAIL_EVENTS_SES_TOPIC: TOPIC,
  MAIL_EVENTS_POSTMARK_LOGIN: LOGIN,
  MAIL_EVENTS_MAILGUN_KEY: MAILGUN_KEY,
  MAIL_EVENTS_SENDGRID_KEY: SENDGRID.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
};
export const PROVIDERS = ['ses', 'postmark', 'mailgun', 'sendgrid'] as const;
type ProviderName = (typeof PROVIDERS)[number];

export type ProviderEvent = {
  readonly kind: 'bounce' | 'complaint' | 'soft bounce';
  readonly email?: string;
  readonly at: number;
};
export type Call = { readonly payload: string; readonly headers: Record<string, string> };

type Amazon = {
  readonly requests: string[];
  readonly responses: Map<string, string | number>;
};

/** EMAIL has been mailed a code, because events about other addresses are ignored. */
export async function withAmazon(
  options: ServerOptions,
  test: (server: ServerUnderTest, amazon: Amazon) => Promise<void>,
): Promise<void> {
  const amazon: Amazon = { requests: [], responses: new Map([[CERTIFICATE_PATH, TEST_SNS_CERTIFICATE]]) };
  await using http = await listening(
    createServer((request, response) => {
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      const fixture = amazon.responses.get(path) ?? 403;
      response.writeHead(typeof fixture === 'number' ? fixture : 200);
      response.end(typeof fixture === 'number' ? '' : fixture);
    }),
  );
  await withServer(
    {
      ...options,
      env: { ...ENV, ...options.env },
      fetch: (url, init) => {
        amazon.requests.push(url);
        const { pathname, search } = new URL(url);
        return fetch(`http://127.0.0.1:${http.port}${pathname}${search}`, init);
      },
    },
    async (server) => {
      await askAndReceive(server, EMAIL);
      await test(server, amazon);
    },
  );
}

export const iso = (at: number): string => new Date(at).toISOString();

export function snsMessage(
  fields: Readonly<Record<string, string>>,
  version: '1' | '2' = '2',
): Record<string, string> {
  const message: Record<string, string> = {
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: TOPIC,
    SignatureVersion: version,
    SigningCertURL: `${SNS}${CERTIFICATE_PATH}`,
    ...fields,
  };
  const names =
    message['Type'] === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names
    .filter((name) => message[name] !== undefined)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');
  const signature = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
    .update(text)
    .sign(TEST_SNS_KEY, 'base64');
  return { ...message, Signature: signature };
}

export const asSns = (message: Record<string, string>): Call => ({
  payload: JSON.stringify(message),
  headers: { 'content-type': 'text/plain; charset=UTF-8', 'x-amz-sns-topic-arn': TOPIC },
});

export const sesNotification = (
  { kind, email = EMAIL, at }: ProviderEvent,
  key = 'notificationType',
): string =>
  JSON.stringify(
    kind === 'complaint'
      ? {
          [key]: 'Complaint',
          complaint: {
            userAgent: 'AnyCompany Feedback Loop (V0.01)',
            complainedRecipients: [{ emailAddress: email }],
            complaintFeedbackType: 'abuse',
            arrivalDate: iso(at - 1_000),
            timestamp: iso(at),
            feedbackId: '000001378603177f-18c07c78-fa81-4a58-9dd1-fedc3cb8f49a-000000',
          },
        }
      : {
          [key]: 'Bounce',
          bounce: {
            bounceType: kind === 'bounce' ? 'Permanent' : 'Transient',
            bounceSubType: kind === 'bounce' ? 'General' : 'MailboxFull',
            reportingMTA: 'dns; email.example.com',
            bouncedRecipients: [
              kind === 'bounce'
                ? {
                    emailAddress: email,
                    status: '5.1.1',
                    action: 'failed',
                    diagnosticCode: `smtp; 550 5.1.1 <${email}>... User`,
                  }
                : { emailAddress: email, status: '5.2.2', action: 'failed' },
            ],
            timestamp: iso(at),
            feedbackId: '00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa068a-000000',
          },
        },
  );

export const asSes = (event: ProviderEvent, now: number, version?: '1' | '2'): Call =>
  asSns(
    snsMessage(
      {
        Type: 'Notification',
        Subject: 'Amazon SES Email Event Notification',
        Message: sesNotification(event),
        Timestamp: iso(now),
      },
      version,
    ),
  );

export const asPostmark = ({ kind, email = EMAIL, at }: ProviderEvent): Call => ({
  payload: JSON.stringify({
    RecordType: kind === 'complaint' ? 'SpamComplaint' : 'Bounce',
    MessageStream: 'outbound',
    ID: 4323372036854775807n.toString(),
    Type: kind === 'complaint' ? 'SpamComplaint' : kind === 'bounce' ? 'HardBounce' : 'SoftBounce',
    TypeCode: 1,
    Name: 'Hard bounce',
    MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
    Description: 'The server was unable to deliver your message (ex: unknown user, mailbox not found).',
    Details: kind === 'complaint' ? '' : kind === 'bounce' ? 'smtp;550 5.1.1 unknown' : 'smtp;552 5.2.2 full',
    Email: email,
    From: 'guide@example.com',
    BouncedAt: iso(at).replace('Z', '0000Z'),
    Inactive: true,
  }),
  headers: {
    'content-type': 'application/json',
    authorization: `Basic ${Buffer.from(LOGIN).toString('base64')}`,
  },
});

let mailgunCalls = 0;
export function asMailgun({ kind, email = EMAIL, at }: ProviderEvent, now: number, token?: string): Call {
  const timestamp = String(Math.floor(now / 1_000));
  const used = token ?? `a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3d${(mailgunCalls += 1)}`;
  return {
    payload: JSON.stringify({
      signature: {
        timestamp,
        token: used,
        signature: createHmac('sha256', MAILGUN_KEY).update(`${timestamp}${used}`).digest('hex'),
      },
      'event-data': {
        event: kind === 'complaint' ? 'complained' : 'failed',
        ...(kind !== 'complaint' && { severity: kind === 'bounce' ? 'permanent' : 'temporary' }),
        reason: kind === 'bounce' ? 'bounce' : 'generic',
        timestamp: at / 1_000,
        id: 'G9Bn5sl1TC6nu79C8C0bwg',
        recipient: email,
        'delivery-status': {
          'attempt-no': 1,
          message: kind === 'bounce' ? '5.1.1 The email account that you tried to reach does not exist' : '',
          code: 550,
          description: '',
          'enhanced-code': kind === 'bounce' ? '5.1.1' : '',
        },
        message: { headers: { to: email, 'message-id': '20130503192659.13651.20287@mg.example.com' } },
      },
    }),
    headers: { 'content-type': 'application/json' },
  };
}

export function asSendGrid(events: readonly ProviderEvent[], now: number, odd: object = {}): Call {
  const timestamp = String(Math.floor(now / 1_000));
  // Other event types arrive too, in formats that we do not read.
  const other = { email: null, timestamp, event: 'unsubscribe', type: null };
  const payload = `${JSON.stringify([
    other,
    ...events.map(({ kind, email = EMAIL, at }) => ({
      email,
      timestamp: Math.ceil(at / 1_000),
      'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>',
      event: kind === 'complaint' ? 'spamreport' : 'bounce',
      ...(kind !== 'complaint' && {
        type: kind === 'bounce' ? 'bounce' : 'blocked',
        status: '5.0.0',
        reason: '500 unknown recipient',
      }),
      sg_event_id: '6g4ZI7SA-xmRDv57GoPIPw==',
      sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
      ...odd,
    })),
  ])}\r\n`;
  return {
    payload,
    headers: {
      'content-type': 'application/json;charset=utf-8',
      'x-twilio-email-event-webhook-signature': sign(
        'sha256',
        Buffer.from(timestamp + payload),
        SENDGRID.privateKey,
      ).toString('base64'),
      'x-twilio-email-event-webhook-timestamp': timestamp,
    },
  };
}

export const CALLS: Readonly<Record<ProviderName, (event: ProviderEvent, now: number) => Call>> = {
  ses: (event, now) => asSes(event, now),
  postmark: (event) => asPostmark(event),
  mailgun: (event, now) => asMailgun(event, now),
  sendgrid: (event, now) => asSendGrid([event], now),
};

export const post = ({ app }: ServerUnderTest, name: ProviderName, { payload, headers }: Call) =>
  app.inject({ method: 'POST', url: `/api/mail-events/${name}`, payload, headers });

export const report = async (
  server: ServerUnderTest,
  name: ProviderName,
  event: ProviderEvent,
): Promise<void> => {
  const response = await post(server, name, CALLS[name](event, server.now()));
  assert.deepEqual([response.statusCode, response.body], [200, ''], `${name}: ${response.body}`);
};

export const expectRefusal = async (
  server: ServerUnderTest,
  name: ProviderName,
  call: Call,
  [status, code]: readonly [number, string],
): Promise<void> => {
  const response = await post(server, name, call);
  assert.deepEqual([response.statusCode, response.headers['x-error-code']], [status, code], response.body);
  assert.match(response.body, /^[A-Z][^<>{}]+\.$/);
  assert.deepEqual(await reasons(server), []);
};

export const UNSIGNED = [401, 'wrong-signature'] as const;
export const LATER = [503, 'unavailable'] as const;

export const reasons = async ({ database }: ServerUnderTest): Promise<string[]> => {
  const rows = await database.db.selectFrom('suppressions').select('reason').execute();
  return rows.map(({ reason }) => reason).toSorted();
};
