import assert from 'node:assert/strict';
import { it } from 'node:test';

import { TEST_SNS_CERTIFICATE } from '#testing/certificate.ts';
import {
  EMAIL,
  TOPIC,
  SNS,
  CERTIFICATE_PATH,
  LOGIN,
  type ProviderEvent,
  type Call,
  withAmazon,
  iso,
  snsMessage,
  asSns,
  sesNotification,
  asSes,
  asPostmark,
  asMailgun,
  asSendGrid,
  post,
  expectRefusal,
  UNSIGNED,
  LATER,
  reasons,
} from '#testing/mail-providers.ts';

it('a SendGrid event is accepted only with a recent signature over its exact bytes', () =>
  withAmazon({ engine: 'sqlite' }, async (server) => {
    const now = server.now();
    const event: ProviderEvent = { kind: 'bounce', at: now };
    const right = asSendGrid([event], now);
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
      asSendGrid([event], now - 16 * 60_000),
      asSendGrid([event], now + 16 * 60_000),
    ])
      await expectRefusal(server, 'sendgrid', wrong, UNSIGNED);
    assert.equal((await post(server, 'sendgrid', asSendGrid([event], now - 14 * 60_000))).statusCode, 200);
    assert.deepEqual(await reasons(server), ['bounced']);
  }));

it('a Mailgun event is accepted only with a recent, signed timestamp and token', () =>
  withAmazon({ engine: 'sqlite' }, async (server) => {
    const now = server.now();
    const event: ProviderEvent = { kind: 'bounce', at: now };
    const right = asMailgun(event, now, 'once');
    for (const wrong of [
      { ...right, payload: right.payload.replace('"once"', '"twice"') },
      { ...right, payload: right.payload.replace(/"signature":"[0-9a-f]{4}/, '"signature":"0000') },
      { ...right, payload: right.payload.replace(/"signature":"[0-9a-f]+"/, '"signature":""') },
      asMailgun(event, now - 16 * 60_000),
      asMailgun(event, now + 16 * 60_000),
    ])
      await expectRefusal(server, 'mailgun', wrong, UNSIGNED);
    assert.equal((await post(server, 'mailgun', right)).statusCode, 200);
    assert.deepEqual(await reasons(server), ['bounced']);
  }));

it('a Mailgun or Postmark bounce is ignored unless the e-mail address is dead', () =>
  withAmazon({ engine: 'sqlite' }, async (server) => {
    for (const reason of ['suppress-complaint', 'suppress-unsubscribe', 'generic', 'old']) {
      const mailgun = asMailgun({ kind: 'bounce', at: server.now() }, server.now());
      const payload = mailgun.payload
        .replace('"reason":"bounce"', `"reason":"${reason}"`)
        .replaceAll('5.1.1', '');
      assert.equal((await post(server, 'mailgun', { ...mailgun, payload })).statusCode, 200, reason);
    }
    const postmark = asPostmark({ kind: 'bounce', at: server.now() });
    for (const [type, details] of [
      ['Blocked', 'smtp;550 5.7.1 spam'],
      ['HardBounce', 'smtp;550 5.7.1 spam'],
      ['DnsError', ''],
      ['Unsubscribe', ''],
    ] as const) {
      const payload = postmark.payload.replace('HardBounce', type).replace('smtp;550 5.1.1 unknown', details);
      assert.equal((await post(server, 'postmark', { ...postmark, payload })).statusCode, 200, type);
    }
    for (const record of ['Delivery', 'Open', 'SubscriptionChange']) {
      const payload = postmark.payload.replace('"RecordType":"Bounce"', `"RecordType":"${record}"`);
      assert.equal((await post(server, 'postmark', { ...postmark, payload })).statusCode, 200, record);
    }
    assert.deepEqual(await reasons(server), []);
  }));

it('a Postmark event is accepted only with the configured user and password', () =>
  withAmazon({ engine: 'sqlite' }, async (server) => {
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

it('an Amazon SES event is accepted only if SNS signed it for our topic', () =>
  withAmazon({ engine: 'sqlite' }, async (server, amazon) => {
    const now = server.now();
    const event: ProviderEvent = { kind: 'bounce', at: now };
    const fields = { Type: 'Notification', Message: sesNotification(event), Timestamp: iso(now) };
    const right = snsMessage(fields);
    const elsewhere = (url: string) => asSns(snsMessage({ ...fields, SigningCertURL: url }));
    const untouched = [
      asSns(snsMessage({ ...fields, TopicArn: TOPIC.replace('guide-mail', 'another') })),
      asSns({ ...right, SignatureVersion: '3' }),
      asSns({ ...right, SignatureVersion: '__proto__' }),
      asSns({ ...right, SignatureVersion: 'constructor' }),
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
    assert.deepEqual(amazon.requests, [], 'nothing is fetched for any of them');

    for (const name of ['Message', 'MessageId', 'Timestamp', 'Signature'] as const) {
      const changed = {
        ...right,
        [name]: name === 'Timestamp' ? iso(now + 1) : `${right[name]}A`.replace('==A', 'A=='),
      };
      await expectRefusal(server, 'ses', asSns(changed), UNSIGNED);
    }
    await expectRefusal(server, 'ses', asSns({ ...right, Subject: 'Added' }), UNSIGNED);
    assert.equal((await post(server, 'ses', asSes(event, now, '1'))).statusCode, 200);
    assert.deepEqual(await reasons(server), ['bounced']);
    const published = { ...fields, Message: sesNotification({ ...event, kind: 'complaint' }, 'eventType') };
    assert.equal((await post(server, 'ses', asSns(snsMessage(published)))).statusCode, 200);
    assert.deepEqual(await reasons(server), ['bounced', 'complained']);
    assert.deepEqual(
      amazon.requests,
      [`${SNS}${CERTIFICATE_PATH}`],
      'the certificate is fetched once and kept',
    );
  }));

it('an Amazon SES event is postponed while the certificate cannot be fetched', () =>
  withAmazon({ engine: 'sqlite' }, async (server, { responses, requests }) => {
    const call = asSes({ kind: 'bounce', at: server.now() }, server.now());
    responses.set(CERTIFICATE_PATH, 500);
    await expectRefusal(server, 'ses', call, LATER);
    for (const answer of [404, 'no certificate', `${TEST_SNS_CERTIFICATE}${'x'.repeat(20_000)}`]) {
      responses.set(CERTIFICATE_PATH, answer);
      await expectRefusal(server, 'ses', call, UNSIGNED);
    }
    assert.equal(requests.length, 4, 'what failed is not kept');
    responses.set(CERTIFICATE_PATH, TEST_SNS_CERTIFICATE);
    assert.equal((await post(server, 'ses', call)).statusCode, 200);

    server.setClock(Date.UTC(2121, 0, 1));
    const late = await post(server, 'ses', asSes({ kind: 'complaint', at: server.now() }, server.now()));
    assert.equal(late.statusCode, 401);
  }));

it("an Amazon SES subscription is confirmed only for our topic and at Amazon's own host", () =>
  withAmazon({ engine: 'sqlite' }, async (server, { requests, responses }) => {
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
    responses.set('/', 500);
    await expectRefusal(server, 'ses', ask({}), LATER);
    responses.set('/', '<ConfirmSubscriptionResponse/>');
    requests.splice(0);
    for (const SubscribeURL of [
      url(`${TOPIC}-2`),
      url(TOPIC, 'https://evil.example'),
      url(TOPIC, 'http://sns.eu-west-1.amazonaws.com'),
      url(TOPIC, 'https://user@sns.eu-west-1.amazonaws.com'),
      url(TOPIC).replace('Confirm', 'Delete'),
      'nonsense',
    ])
      await expectRefusal(server, 'ses', ask({ SubscribeURL }), UNSIGNED);
    const another = { TopicArn: `${TOPIC}-2`, SubscribeURL: url(`${TOPIC}-2`) };
    await expectRefusal(server, 'ses', ask(another), UNSIGNED);
    assert.deepEqual(requests, []);
    assert.equal((await post(server, 'ses', ask({}))).statusCode, 200);
    assert.deepEqual(requests, [url(TOPIC)]);
    assert.equal((await post(server, 'ses', ask({ Type: 'UnsubscribeConfirmation' }))).statusCode, 200);
    assert.equal(requests.length, 1, 'an ended subscription is not confirmed again');
  }));

it('an Amazon SES bounce is ignored if it is temporary or about the message', () =>
  withAmazon({ engine: 'sqlite' }, async (server) => {
    const at = server.now();
    const notify = async (Message: string) => {
      const message = snsMessage({ Type: 'Notification', Message, Timestamp: iso(at) });
      assert.equal((await post(server, 'ses', asSns(message))).statusCode, 200);
    };
    const bounce = sesNotification({ kind: 'bounce', at });
    const complaint = sesNotification({ kind: 'complaint', at });
    for (const Message of [
      bounce.replace('Permanent', 'Undetermined'),
      bounce.replace('"General"', '"UnsubscribedRecipient"'),
      bounce.replaceAll('5.1.1', '5.7.1'),
      bounce.replaceAll('5.1.1', '5.3.4'),
      complaint.replace('"abuse"', '"not-spam"'),
      complaint.replace('"complaintFeedbackType":"abuse"', '"complaintSubType":"OnAccountSuppressionList"'),
      'Successfully validated SNS topic for Amazon SES event publishing.',
      '{"notificationType":"Delivery"}',
    ])
      await notify(Message);
    assert.deepEqual(await reasons(server), []);
    const unread = () => server.logLines.filter((line) => line.includes('could not be read')).length;
    assert.equal(unread(), 0);
    for (const Message of [
      bounce.replace('bouncedRecipients', 'recipients'),
      bounce.replace('"bounce":', '"details":'),
      '{"eventType":"Complaint","complaint":null}',
    ])
      await notify(Message);
    assert.equal(unread(), 3, 'a bounce in an unknown shape');
    await notify(complaint.replace('"complaintFeedbackType":"abuse",', ''));
    assert.deepEqual(await reasons(server), ['complained']);
  }));
