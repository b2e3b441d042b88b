// What mail providers tell of bounces and complaints: signed as they sign, with keys of our own, on the whole way into the tables.
// The events are those of their documentation.
import assert from 'node:assert/strict';
import { createHmac, createSign, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';

import { buildApp } from '#server/run/app.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { TEST_SNS_CERTIFICATE, TEST_SNS_KEY } from '#testing/certificate.ts';
import { ENGINES } from '#testing/databases.ts';
import {
  createVisitor,
  filledForm,
  withServer,
  type ServerOptions,
  type ServerUnderTest,
} from '#testing/server-under-test.ts';

const EMAIL = 'ada@example.com';
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:guide-mail';
const SNS = 'https://sns.eu-west-1.amazonaws.com';
const CERTIFICATE_PATH = '/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem';
const LOGIN = 'postmark:0123456789abcdef0123456789abcdef';
const MAILGUN_KEY = '0123456789abcdef0123456789abcdef';
const SENDGRID = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

const ENV = {
  MAIL_EVENTS_SES_TOPIC: TOPIC,
  MAIL_EVENTS_POSTMARK_LOGIN: LOGIN,
  MAIL_EVENTS_MAILGUN_KEY: MAILGUN_KEY,
  MAIL_EVENTS_SENDGRID_KEY: SENDGRID.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
};
const PROVIDERS = ['ses', 'postmark', 'mailgun', 'sendgrid'] as const;
type ProviderName = (typeof PROVIDERS)[number];

/** An event as a provider would tell it. */
type Told = {
  readonly kind: 'bounce' | 'complaint' | 'soft bounce';
  readonly email?: string;
  readonly at: number;
};
type Call = { readonly payload: string; readonly headers: Record<string, string> };

/** What Amazon SNS would answer, on this machine; and what it was asked for. */
type Amazon = {
  readonly asked: string[];
  /** By path; what is not there is answered 403. */
  readonly answers: Map<string, string | number>;
};

async function withAmazon(
  options: ServerOptions,
  test: (server: ServerUnderTest, amazon: Amazon) => Promise<void>,
): Promise<void> {
  const amazon: Amazon = { asked: [], answers: new Map([[CERTIFICATE_PATH, TEST_SNS_CERTIFICATE]]) };
  const http = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const answer = amazon.answers.get(path) ?? 403;
    response.writeHead(typeof answer === 'number' ? answer : 200);
    response.end(typeof answer === 'number' ? '' : answer);
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    await withServer(
      {
        ...options,
        env: { ...ENV, ...options.env },
        fetch: (url, init) => {
          amazon.asked.push(url);
          const { pathname, search } = new URL(url);
          return fetch(`http://127.0.0.1:${port}${pathname}${search}`, init);
        },
      },
      (server) => test(server, amazon),
    );
  } finally {
    http.close();
  }
}

const iso = (at: number): string => new Date(at).toISOString();

/** A message of SNS, signed as SNS does. */
function snsMessage(
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

const asSns = (message: Record<string, string>): Call => ({
  payload: JSON.stringify(message),
  headers: { 'content-type': 'text/plain; charset=UTF-8', 'x-amz-sns-topic-arn': TOPIC },
});

const sesNotification = ({ kind, email = EMAIL, at }: Told, key = 'notificationType'): string =>
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

const asSes = (told: Told, now: number, version?: '1' | '2'): Call =>
  asSns(
    snsMessage(
      {
        Type: 'Notification',
        Subject: 'Amazon SES Email Event Notification',
        Message: sesNotification(told),
        Timestamp: iso(now),
      },
      version,
    ),
  );

const asPostmark = ({ kind, email = EMAIL, at }: Told): Call => ({
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
function asMailgun({ kind, email = EMAIL, at }: Told, now: number, token?: string): Call {
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

function asSendGrid(events: readonly Told[], now: number): Call {
  const timestamp = String(Math.floor(now / 1_000));
  const payload = `${JSON.stringify(
    events.map(({ kind, email = EMAIL, at }) => ({
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
    })),
  )}\r\n`;
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

const CALLS: Readonly<Record<ProviderName, (told: Told, now: number) => Call>> = {
  ses: (told, now) => asSes(told, now),
  postmark: (told) => asPostmark(told),
  mailgun: (told, now) => asMailgun(told, now),
  sendgrid: (told, now) => asSendGrid([told], now),
};

const post = ({ app }: ServerUnderTest, name: ProviderName, { payload, headers }: Call) =>
  app.inject({ method: 'POST', url: `/api/mail-events/${name}`, payload, headers });

/** Posts it, and expects success. */
const tell = async (server: ServerUnderTest, name: ProviderName, told: Told): Promise<void> => {
  const response = await post(server, name, CALLS[name](told, server.now()));
  assert.deepEqual([response.statusCode, response.body], [200, ''], `${name}: ${response.body}`);
};

/** Posts it, and expects to be refused with a sentence. */
const expectRefusal = async (
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

const UNSIGNED = [401, 'wrong-signature'] as const;
const LATER = [503, 'unavailable'] as const;

const reasons = async ({ database }: ServerUnderTest): Promise<string[]> => {
  const rows = await database.db.selectFrom('suppressions').select('reason').execute();
  return rows.map(({ reason }) => reason).toSorted();
};

const askForCode = async (server: ServerUnderTest, email = EMAIL): Promise<void> => {
  await createVisitor(server, '198.51.100.7').post(API.leads, filledForm({ email }));
  await server.inbox.waitForMail(email);
};

for (const engine of ENGINES) {
  describe(`events of mail providers on ${engine}`, () => {
    for (const name of PROVIDERS)
      it(`${name}: a bounce and a complaint are stored once, and undone by nothing but a newer consent`, () =>
        withAmazon({ engine }, async (server) => {
          await askForCode(server);
          const bounce = { kind: 'bounce', at: server.now() } as const;
          await tell(server, name, { ...bounce, kind: 'soft bounce' });
          assert.deepEqual(await reasons(server), []);
          await tell(server, name, bounce);
          await tell(server, name, bounce);
          assert.deepEqual(await reasons(server), ['bounced']);

          await server.advance(61);
          const complaint = { kind: 'complaint', at: server.now() } as const;
          await server.advance(1);
          const { leadId } = await becomeLead(server, EMAIL, 2);
          assert.deepEqual(await reasons(server), []);
          // What happened before does not undo what was agreed to since, however late it is told.
          await server.advance(3_600);
          await tell(server, name, bounce);
          await tell(server, name, complaint);
          assert.deepEqual(await reasons(server), []);

          await tell(server, name, { ...complaint, at: server.now() });
          await tell(server, name, { ...complaint, at: server.now() });
          assert.deepEqual(await reasons(server), ['complained']);
          const withdrawals = await server.database.db.selectFrom('withdrawals').selectAll().execute();
          assert.deepEqual(
            withdrawals.map(({ lead_id, way }) => [lead_id, way]),
            [[leadId, 'complaint']],
          );
          assert.doesNotMatch(server.logLines.join(''), /ada@|example\.com/);
        }));

    for (const name of PROVIDERS)
      it(`${name}: nothing is kept about an address of which nothing is held`, () =>
        withAmazon({ engine }, async (server) => {
          for (const email of ['eve@example.com', 'nonsense', 'a\u0000b@example.com', '']) {
            await tell(server, name, { kind: 'bounce', email, at: server.now() });
            await tell(server, name, { kind: 'complaint', email, at: server.now() });
          }
          assert.deepEqual(await reasons(server), []);
        }));

    it('mailgun: a token serves one call, of many at once and in every process, and again only after a failure of ours', () =>
      withAmazon({ engine }, async (server) => {
        await askForCode(server);
        const now = server.now();
        const bounce: Told = { kind: 'bounce', at: now };
        const second = await buildApp(server.service, { release: null, isStopping: () => false });
        const processes = [server, { ...server, app: second }];
        const statuses = async (kinds: readonly Told['kind'][], token: string) => {
          const calls = kinds.map((kind, index) =>
            post(processes[index % 2] ?? server, 'mailgun', asMailgun({ ...bounce, kind }, now, token)),
          );
          return (await Promise.all(calls)).map(({ statusCode }) => statusCode).toSorted();
        };
        try {
          assert.deepEqual(await statuses(['soft bounce'], 'harmless'), [200]);
          assert.deepEqual(await statuses(['complaint', 'bounce'], 'harmless'), [401, 401]);
          assert.deepEqual(await reasons(server), []);

          const { schema } = server.database.db;
          await schema.alterTable('suppressions').renameTo('away').execute();
          assert.deepEqual(await statuses(['bounce'], 'tried again'), [500]);
          await schema.alterTable('away').renameTo('suppressions').execute();
          assert.deepEqual(await statuses(['bounce'], 'tried again'), [200]);
          assert.deepEqual(await reasons(server), ['bounced']);
          assert.deepEqual(await statuses(['complaint', 'complaint'], 'tried again'), [401, 401]);

          const many = Array.from({ length: 30 }, () => 'complaint' as const);
          assert.deepEqual(await statuses(many, 'many'), [200, ...Array.from({ length: 29 }, () => 401)]);
          assert.deepEqual(await reasons(server), ['bounced', 'complained']);
        } finally {
          await second.close();
        }
      }));

    it('takes a whole batch, of which each event counts for itself', () =>
      withAmazon({ engine }, async (server) => {
        await askForCode(server);
        await askForCode(server, 'grace@example.com');
        const at = server.now();
        const noise = Array.from(
          { length: 1_500 },
          () => ({ kind: 'soft bounce', email: 'eve@example.com', at }) as const,
        );
        const batch = [
          ...noise,
          { kind: 'bounce', at },
          { kind: 'complaint', email: 'grace@example.com', at },
          { kind: 'bounce', email: 'eve@example.com', at },
        ] as const;
        const response = await post(server, 'sendgrid', asSendGrid(batch, at));
        assert.equal(response.statusCode, 200, response.body);
        assert.deepEqual(await reasons(server), ['bounced', 'complained']);
      }));
  });
}

describe('events of mail providers', () => {
  it('have no address as long as nothing is set, and one each that is', () =>
    withServer({ engine: 'sqlite', env: { MAIL_EVENTS_MAILGUN_KEY: MAILGUN_KEY } }, async (server) => {
      const unknown = await server.app.inject({ method: 'POST', url: '/api/mail-events/nobody' });
      for (const name of PROVIDERS) {
        const response = await post(
          server,
          name,
          CALLS[name]({ kind: 'bounce', at: server.now() }, server.now()),
        );
        if (name === 'mailgun') assert.equal(response.statusCode, 200);
        else assert.deepEqual([response.statusCode, response.body], [404, unknown.body], name);
      }
    }));

  it('are refused by method, type, size and form before anything is done', () =>
    withAmazon({ engine: 'sqlite' }, async (server) => {
      await askForCode(server);
      for (const name of PROVIDERS) {
        const url = `/api/mail-events/${name}`;
        const got = await server.app.inject({ method: 'GET', url });
        assert.deepEqual([got.statusCode, got.headers.allow], [405, 'POST']);
        const call = CALLS[name]({ kind: 'bounce', at: server.now() }, server.now());
        const form = { 'content-type': 'application/x-www-form-urlencoded' };
        await expectRefusal(server, name, { payload: 'a=b', headers: form }, [415, 'unsupported-media-type']);
        const large = { ...call, payload: 'x'.repeat(1_100_000) };
        await expectRefusal(server, name, large, [413, 'body-too-large']);
        for (const payload of ['', '[]', '{}', 'null', '"text"', '{"Type":"Notification"}', '[1]', '{']) {
          const response = await post(server, name, { ...call, payload });
          assert.ok([400, 401].includes(response.statusCode), `${name} ${payload}: ${response.statusCode}`);
        }
      }
      const other = CALLS.postmark({ kind: 'bounce', at: server.now() }, server.now());
      const fromSite = { ...other, headers: { ...other.headers, origin: 'https://evil.example' } };
      await expectRefusal(server, 'postmark', fromSite, [403, 'wrong-origin']);
    }));

  it('of SendGrid are believed when they are signed with its key, over just these bytes, lately', () =>
    withAmazon({ engine: 'sqlite' }, async (server) => {
      await askForCode(server);
      const now = server.now();
      const told: Told = { kind: 'bounce', at: now };
      const right = asSendGrid([told], now);
      const without = (name: string): Call => ({
        ...right,
        headers: Object.fromEntries(Object.entries(right.headers).filter(([key]) => key !== name)),
      });
      for (const wrong of [
        without('x-twilio-email-event-webhook-signature'),
        without('x-twilio-email-event-webhook-timestamp'),
        { ...right, payload: right.payload.trimEnd() },
        { ...right, payload: right.payload.replace(EMAIL, 'bob@example.com') },
        { ...right, headers: { ...right.headers, 'x-twilio-email-event-webhook-signature': 'AAAA' } },
        { ...right, headers: { ...right.headers, 'x-twilio-email-event-webhook-timestamp': '1' } },
        asSendGrid([told], now - 16 * 60_000),
        asSendGrid([told], now + 16 * 60_000),
      ])
        await expectRefusal(server, 'sendgrid', wrong, UNSIGNED);
      assert.equal((await post(server, 'sendgrid', asSendGrid([told], now - 14 * 60_000))).statusCode, 200);
      assert.deepEqual(await reasons(server), ['bounced']);
    }));

  it('of Mailgun are believed when time and token are signed with its key, lately, and each token once', () =>
    withAmazon({ engine: 'sqlite' }, async (server) => {
      await askForCode(server);
      const now = server.now();
      const told: Told = { kind: 'bounce', at: now };
      const right = asMailgun(told, now, 'once');
      for (const wrong of [
        { ...right, payload: right.payload.replace('"once"', '"twice"') },
        { ...right, payload: right.payload.replace(/"signature":"[0-9a-f]{4}/, '"signature":"0000') },
        { ...right, payload: right.payload.replace(/"signature":"[0-9a-f]+"/, '"signature":""') },
        asMailgun(told, now - 16 * 60_000),
        asMailgun(told, now + 16 * 60_000),
      ])
        await expectRefusal(server, 'mailgun', wrong, UNSIGNED);
      const first = asMailgun({ ...told, kind: 'soft bounce' }, now, 'spent');
      const complaint = asMailgun({ ...told, kind: 'complaint', email: 'eve@example.com' }, now, 'spent');
      assert.equal((await post(server, 'mailgun', complaint)).statusCode, 200);
      // The signature would fit any event.
      await expectRefusal(server, 'mailgun', asMailgun(told, now, 'spent'), UNSIGNED);
      await expectRefusal(server, 'mailgun', first, UNSIGNED);
      assert.equal((await post(server, 'mailgun', right)).statusCode, 200);
      assert.deepEqual(await reasons(server), ['bounced']);
    }));

  it('of Mailgun and Postmark are no bounces when their reason is another one', () =>
    withAmazon({ engine: 'sqlite' }, async (server) => {
      await askForCode(server);
      const mailgun = asMailgun({ kind: 'bounce', at: server.now() }, server.now());
      for (const reason of ['suppress-complaint', 'suppress-unsubscribe', 'generic', 'old']) {
        const payload = mailgun.payload
          .replace('"reason":"bounce"', `"reason":"${reason}"`)
          .replaceAll('5.1.1', '');
        assert.equal((await post(server, 'mailgun', asFresh(payload, server.now()))).statusCode, 200, reason);
      }
      const postmark = asPostmark({ kind: 'bounce', at: server.now() });
      for (const [type, details] of [
        ['Blocked', 'smtp;550 5.7.1 spam'],
        ['HardBounce', 'smtp;550 5.7.1 spam'],
        ['SpamNotification', ''],
        ['ManuallyDeactivated', ''],
        ['DnsError', ''],
        ['Unsubscribe', ''],
      ] as const) {
        const payload = postmark.payload
          .replace('HardBounce', type)
          .replace('smtp;550 5.1.1 unknown', details);
        assert.equal((await post(server, 'postmark', { ...postmark, payload })).statusCode, 200, type);
      }
      for (const record of ['Delivery', 'Open', 'SubscriptionChange']) {
        const payload = postmark.payload.replace('"RecordType":"Bounce"', `"RecordType":"${record}"`);
        assert.equal((await post(server, 'postmark', { ...postmark, payload })).statusCode, 200, record);
      }
      assert.deepEqual(await reasons(server), []);
    }));

  it('of Postmark are believed with the user and password that were agreed on', () =>
    withAmazon({ engine: 'sqlite' }, async (server) => {
      await askForCode(server);
      const right = asPostmark({ kind: 'bounce', at: server.now() });
      for (const authorization of [
        undefined,
        'Basic',
        'Basic ',
        `Bearer ${Buffer.from(LOGIN).toString('base64')}`,
        `Basic ${LOGIN}`,
        `Basic ${Buffer.from(`${LOGIN}x`).toString('base64')}`,
      ]) {
        const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
        await expectRefusal(server, 'postmark', { ...right, headers }, UNSIGNED);
      }
    }));

  it('of Amazon SES are believed when SNS signed them for our topic, in either version', () =>
    withAmazon({ engine: 'sqlite' }, async (server, amazon) => {
      await askForCode(server);
      const now = server.now();
      const told: Told = { kind: 'bounce', at: now };
      const fields = { Type: 'Notification', Message: sesNotification(told), Timestamp: iso(now) };
      const right = snsMessage(fields);
      const elsewhere = (url: string) => asSns(snsMessage({ ...fields, SigningCertURL: url }));
      const untouched = [
        asSns(snsMessage({ ...fields, TopicArn: TOPIC.replace('guide-mail', 'another') })),
        asSns({ ...right, SignatureVersion: '3' }),
        asSns(snsMessage({ ...fields, Timestamp: iso(now - 16 * 60_000) })),
        asSns(snsMessage({ ...fields, Timestamp: iso(now + 16 * 60_000) })),
        elsewhere(`https://evil.example${CERTIFICATE_PATH}`),
        elsewhere(`http://sns.eu-west-1.amazonaws.com${CERTIFICATE_PATH}`),
        elsewhere(`https://sns.us-east-1.amazonaws.com${CERTIFICATE_PATH}`),
        elsewhere(`https://sns.eu-west-1.amazonaws.com.evil.example${CERTIFICATE_PATH}`),
        elsewhere(`https://sns.eu-west-1.amazonaws.com:8443${CERTIFICATE_PATH}`),
        elsewhere(`https://user@sns.eu-west-1.amazonaws.com${CERTIFICATE_PATH}`),
        elsewhere(`${SNS}${CERTIFICATE_PATH}?x=1`),
        elsewhere(`${SNS}${CERTIFICATE_PATH}#x`),
        elsewhere(`${SNS}/anything.pem`),
        elsewhere('nonsense'),
      ];
      for (const wrong of untouched) await expectRefusal(server, 'ses', wrong, UNSIGNED);
      assert.deepEqual(amazon.asked, [], 'nothing is fetched for any of them');

      for (const name of ['Message', 'MessageId', 'Timestamp', 'Signature'] as const) {
        const changed = {
          ...right,
          [name]: name === 'Timestamp' ? iso(now + 1) : `${right[name]}A`.replace('==A', 'A=='),
        };
        await expectRefusal(server, 'ses', asSns(changed), UNSIGNED);
      }
      await expectRefusal(server, 'ses', asSns({ ...right, Subject: 'Added' }), UNSIGNED);
      assert.equal((await post(server, 'ses', asSes(told, now, '1'))).statusCode, 200);
      assert.deepEqual(await reasons(server), ['bounced']);
      const published = { ...fields, Message: sesNotification({ ...told, kind: 'complaint' }, 'eventType') };
      assert.equal((await post(server, 'ses', asSns(snsMessage(published)))).statusCode, 200);
      assert.deepEqual(await reasons(server), ['bounced', 'complained']);
      assert.deepEqual(
        amazon.asked,
        [`${SNS}${CERTIFICATE_PATH}`],
        'the certificate is fetched once and kept',
      );
    }));

  it('of Amazon SES wait while its certificate cannot be had, and are refused when it is none', () =>
    withAmazon({ engine: 'sqlite' }, async (server, { answers, asked }) => {
      await askForCode(server);
      const call = asSes({ kind: 'bounce', at: server.now() }, server.now());
      answers.set(CERTIFICATE_PATH, 500);
      await expectRefusal(server, 'ses', call, LATER);
      for (const answer of [404, 'no certificate', `${TEST_SNS_CERTIFICATE}${'x'.repeat(20_000)}`]) {
        answers.set(CERTIFICATE_PATH, answer);
        await expectRefusal(server, 'ses', call, UNSIGNED);
      }
      assert.equal(asked.length, 4, 'what failed is not kept');
      answers.set(CERTIFICATE_PATH, TEST_SNS_CERTIFICATE);
      assert.equal((await post(server, 'ses', call)).statusCode, 200);

      // It has an end of its own.
      server.setClock(Date.UTC(2121, 0, 1));
      const late = await post(server, 'ses', asSes({ kind: 'complaint', at: server.now() }, server.now()));
      assert.equal(late.statusCode, 401);
    }));

  it('of Amazon SES begin with a subscription, which is confirmed for our topic, at its own host, and no other', () =>
    withAmazon({ engine: 'sqlite' }, async (server, { asked, answers }) => {
      const token = '2336412f37fb687f5d51e6e2425ba1f3';
      const url = (topic: string, host = SNS) =>
        `${host}/?Action=ConfirmSubscription&TopicArn=${topic}&Token=${token}`;
      const ask = (fields: Record<string, string>) =>
        asSns(
          snsMessage({
            Type: 'SubscriptionConfirmation',
            Message: 'You have chosen to subscribe to the topic.',
            Token: token,
            Timestamp: iso(server.now()),
            SubscribeURL: url(TOPIC),
            ...fields,
          }),
        );
      answers.set('/', 500);
      await expectRefusal(server, 'ses', ask({}), LATER);
      answers.set('/', '<ConfirmSubscriptionResponse/>');
      asked.splice(0);
      for (const SubscribeURL of [
        url(`${TOPIC}-2`),
        url(TOPIC, 'https://evil.example'),
        url(TOPIC, 'http://sns.eu-west-1.amazonaws.com'),
        url(TOPIC, 'https://user@sns.eu-west-1.amazonaws.com'),
        url(TOPIC).replace('Confirm', 'Delete'),
        'nonsense',
      ])
        await expectRefusal(server, 'ses', ask({ SubscribeURL }), UNSIGNED);
      await expectRefusal(
        server,
        'ses',
        ask({ TopicArn: `${TOPIC}-2`, SubscribeURL: url(`${TOPIC}-2`) }),
        UNSIGNED,
      );
      assert.deepEqual(asked, []);
      assert.equal((await post(server, 'ses', ask({}))).statusCode, 200);
      assert.deepEqual(asked, [url(TOPIC)]);
      assert.equal((await post(server, 'ses', ask({ Type: 'UnsubscribeConfirmation' }))).statusCode, 200);
      assert.equal(asked.length, 1, 'and nobody subscribes again who was unsubscribed');
    }));

  it('of Amazon SES are no bounces when they are for now, about the message, or the owner’s own wish', () =>
    withAmazon({ engine: 'sqlite' }, async (server) => {
      await askForCode(server);
      const at = server.now();
      const bounce = sesNotification({ kind: 'bounce', at });
      const complaint = sesNotification({ kind: 'complaint', at });
      for (const Message of [
        bounce.replace('Permanent', 'Undetermined'),
        bounce.replace('"General"', '"UnsubscribedRecipient"'),
        bounce.replaceAll('5.1.1', '5.7.1'),
        bounce.replaceAll('5.1.1', '5.3.4'),
        complaint.replace('"abuse"', '"not-spam"'),
        'Successfully validated SNS topic for Amazon SES event publishing.',
        '{"notificationType":"Delivery"}',
      ]) {
        const message = snsMessage({ Type: 'Notification', Message, Timestamp: iso(at) });
        assert.equal((await post(server, 'ses', asSns(message))).statusCode, 200);
      }
      assert.deepEqual(await reasons(server), []);
      const withoutType = snsMessage({
        Type: 'Notification',
        Message: complaint.replace('"complaintFeedbackType":"abuse",', ''),
        Timestamp: iso(at),
      });
      assert.equal((await post(server, 'ses', asSns(withoutType))).statusCode, 200);
      assert.deepEqual(await reasons(server), ['complained']);
    }));
});

/** The same event of Mailgun's, signed anew. */
function asFresh(payload: string, now: number): Call {
  const { signature } = JSON.parse(asMailgun({ kind: 'bounce', at: now }, now).payload) as {
    signature: unknown;
  };
  return {
    payload: JSON.stringify({ ...(JSON.parse(payload) as Record<string, unknown>), signature }),
    headers: { 'content-type': 'application/json' },
  };
}
