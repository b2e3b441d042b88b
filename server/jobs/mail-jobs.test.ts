import assert from 'node:assert/strict';

import { v7 as uuid } from 'uuid';

import { SMTP_CONNECTIONS } from '#server/jobs/mail-jobs.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import { queueGuideMail } from '#server/mail/templates/guide-mail.ts';
import { API, type CodeRequested, type OpenChallenge } from '#shared/api.ts';
import { codeIn, smtpError, startInbox, whileInboxHangs, type InboxBehaviour } from '#testing/inbox.ts';
import { ask, askForCode, askFrom, askUntilTried, EMAIL, enter, refusalOf } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const WITHOUT_LIMITS = {
  LEADS_PER_IP_PER_HOUR: '0',
  BREAKER_CODES_PER_MINUTE: '0',
  BREAKER_UNENTERED_PERCENT: '0',
};
const UNLIMITED = { env: WITHOUT_LIMITS };
const MINUTE_CODES = { env: { ...WITHOUT_LIMITS, CODE_TTL_SECONDS: '60' } };

const health = async (server: ServerUnderTest) => {
  const { statusCode, body } = await server.app.inject(API.health);
  return { statusCode, body };
};

async function expectOpenForm(server: ServerUnderTest): Promise<void> {
  await server.advance(200);
  assert.deepEqual(await health(server), { statusCode: 200, body: '{"status":"ok"}' });
  assert.equal((await askFrom(server, '203.0.113.1', 'honest@example.net')).statusCode, 202);
  server.wakeWorker();
  await server.inbox.waitForMail('honest@example.net');
}

function cutOffAt(recipients: readonly string[]): InboxBehaviour {
  let isCutOff = false;
  return {
    onRecipient: (address) => {
      isCutOff = recipients.includes(address);
      return null;
    },
    onMessage: () => (isCutOff ? 'cut off' : null),
  };
}

/** The network that requested the mail of the past that was sent. */
const SERVED = '192.0.2.250';

async function insertPast(
  server: ServerUnderTest,
  { seconds, sent, waiting }: { seconds: number; sent: number; waiting: readonly string[] },
) {
  const at = server.now() - seconds * 1000;
  const row = {
    kind: 'code',
    payload: '{}',
    recipient: 'past@past.example',
    recipient_domain: 'past.example',
    created_at: at,
    turn_at: at,
    due_at: at,
  };
  const rows = [
    ...waiting.map((network) => ({
      ...row,
      id: uuid({ msecs: at }),
      network,
      state: 'queued' as const,
      lease_id: 'another process',
      // Not longer than a lease can be, because a worker that has just started ends longer ones.
      leased_until: server.now() + MINUTE_MS,
      finished_at: null,
    })),
    ...Array.from({ length: sent }, (_, index) => ({
      ...row,
      id: uuid({ msecs: at }),
      network: SERVED,
      state: 'sent' as const,
      lease_id: null,
      leased_until: null,
      finished_at: Math.round(at + ((index + 1) * seconds * 1000) / sent),
    })),
  ];
  await server.database.db.insertInto('outbox').values(rows).execute();
}

/** Makes all queued mail wait an hour for its next attempt. */
async function putOff({ database, now }: ServerUnderTest, failed: { attempts: number; error_class: string }) {
  await database.db
    .updateTable('outbox')
    .set({ ...failed, due_at: now() + 3_600_000, lease_id: null, leased_until: null })
    .where('state', '=', 'queued')
    .execute();
}

async function insertPutOff(server: ServerUnderTest, waiting: readonly string[]) {
  await insertPast(server, { seconds: 14, sent: 7, waiting });
  await putOff(server, { attempts: 1, error_class: 'ECONNECTION' });
}

onEachEngine('mail backlog', ({ test, both }) => {
  for (const lane of ['network', 'recipient domain'] as const)
    both(`a mail server that does not respond for one ${lane} does not delay the others`, async (server) => {
      const hang = (done: Promise<null>) => ({
        onRecipient: (address: string) => (address.endsWith('silent.example') ? done : null),
      });
      await whileInboxHangs(server.inbox, hang, async () => {
        for (let count = 1; count <= 20; count += 1) {
          const response = await (lane === 'network'
            ? askFrom(server, '198.51.100.1', `victim@${count}.silent.example`)
            : askFrom(server, `198.51.100.${count}`, `victim-${count}@silent.example`));
          assert.equal(response.statusCode, 202);
        }
        assert.equal((await askFrom(server, '203.0.113.1', 'honest@example.com')).statusCode, 202);
        await server.inbox.waitForMail('honest@example.com', 1, 4_000);
        assert.equal(server.inbox.mails.length, 1);
      });
      await until(() => server.inbox.mails.length === 21);
    });

  for (const [to, addressOf] of [
    ['many domains', (name: string) => `${name}@${name}.example`],
    ['the same domain', (name: string) => `${name}@shared.example`],
  ] as const)
    both(`a later visitor's mail overtakes bursts from two networks to ${to}`, async (server) => {
      let arrived = 0;
      const hang = (done: Promise<null>) => ({
        onMessage: () => {
          arrived += 1;
          return done;
        },
      });
      await whileInboxHangs(server.inbox, hang, async () => {
        // Opens all connections, because mail on a new one could arrive later than mail taken after it.
        for (let count = 1; count <= SMTP_CONNECTIONS; count += 1)
          await askFrom(server, `192.0.2.${count}`, `early@early-${count}.example`);
        await until(() => arrived === SMTP_CONNECTIONS);
        // Uses two networks, because one may use only part of the connections.
        for (let count = 1; count <= 20; count += 1) {
          await askFrom(server, `198.51.100.${1 + (count % 2)}`, addressOf(`burst-${count}`));
          // IDs from the same millisecond have no order.
          server.setClock(server.now() + 1);
        }
        await askFrom(server, '203.0.113.1', addressOf('first'));
        await askFrom(server, '203.0.113.2', addressOf('second'));
      });
      await until(() => server.inbox.mails.length === SMTP_CONNECTIONS + 22);
      const order = server.inbox.mails.map(({ to: recipient }) => recipient.split('@')[0]);
      const story = `${String(order)} ${JSON.stringify(server.mailEvents)}`;
      assert.ok(order.indexOf('second') < order.indexOf('burst-8'), story);
      assert.ok(order.indexOf('burst-12') < order.indexOf('burst-18'), story);
    });

  both('a form gets 503 and a waiting time if its code would be too late', MINUTE_CODES, async (server) => {
    // The server sends five mails a second, and a code may wait for fifteen seconds.
    const networks = Array.from({ length: 80 }, (_, index) => `198.51.100.${index}`);
    await insertPast(server, { seconds: 10, sent: 50, waiting: networks.slice(0, 70) });
    assert.equal((await askFrom(server, '203.0.113.1', 'in-time@example.com')).statusCode, 202);
    assert.equal((await health(server)).statusCode, 200);
    await server.inbox.waitForMail('in-time@example.com');

    await insertPast(server, { seconds: 10, sent: 0, waiting: networks.slice(70) });
    const refused = await askFrom(server, '203.0.113.2', 'late@example.com');
    assert.deepEqual(refusalOf(refused), [503, 'mail-backlog']);
    assert.match(refused.body, /^We cannot send codes fast enough .* Please send the form again in \d+ /);
    const retryAfter = Number(refused.headers['retry-after']);
    assert.ok(retryAfter >= 1 && retryAfter < 60, String(retryAfter));
    assert.equal(await server.countRows('submissions'), 1, 'nothing of it is stored');
    assert.equal(await server.countRows('codes'), 1);
    assert.deepEqual(await health(server), {
      statusCode: 503,
      body: 'Mail is being sent more slowly than forms arrive, so forms are refused until the queue is shorter.',
    });
  });

  test('a mail backlog caused by one network refuses only that network', MINUTE_CODES, async (server) => {
    const waiting = Array.from({ length: 400 }, () => '198.51.100.1');
    await insertPast(server, { seconds: 20, sent: 100, waiting });
    assert.equal((await askFrom(server, '198.51.100.1', 'more@example.com')).statusCode, 503);
    assert.equal((await askFrom(server, SERVED, 'again@example.com')).statusCode, 202, 'its mail was sent');
    assert.equal((await askFrom(server, '203.0.113.1', 'honest@example.com')).statusCode, 202);
    await server.inbox.waitForMail('honest@example.com');
  });

  test(
    'a growing mail backlog counts while the pace of the mail server is unknown',
    MINUTE_CODES,
    async (server) => {
      const statuses: number[] = [];
      const hang = (done: Promise<null>) => ({ onMessage: () => done });
      await whileInboxHangs(server.inbox, hang, async () => {
        for (let count = 1; count <= 90; count += 1)
          statuses.push((await askFrom(server, '198.51.100.1', `burst-${count}@example.com`)).statusCode);
      });
      assert.equal(statuses.filter((status) => status === 202).length, 76, String(statuses));
      assert.equal(statuses.filter((status) => status === 503).length, 14);
    },
  );

  both(
    'deferred mail lengthens the expected wait only if it is for many networks, even while new mail is queued',
    MINUTE_CODES,
    async (server) => {
      const few = Array.from({ length: 60 }, (_, index) => `192.0.2.${index % 10}`);
      await insertPutOff(server, few);
      assert.equal((await askFrom(server, '203.0.113.3', 'in-time@example.com')).statusCode, 202);
      await until(() => server.mailEvents.length === 1);
      // One mail in a second, so a mail after seventy would wait for more than a minute.
      await insertPutOff(
        server,
        Array.from({ length: 60 }, (_, index) => `198.51.100.${index}`),
      );
      assert.equal((await askFrom(server, '203.0.113.1', 'late@example.com')).statusCode, 503);

      await insertPast(server, { seconds: 0, sent: 0, waiting: ['198.51.100.250'] });
      assert.equal((await askFrom(server, '203.0.113.2', 'late@example.org')).statusCode, 503);
    },
  );

  both('a short outage of the mail server is reported, and a long one closes the form', async (server) => {
    const { port } = server.inbox;
    await server.inbox.close();
    assert.equal((await askFrom(server, '198.51.100.1', 'first@example.com')).statusCode, 202);
    await until(() => server.mailEvents.length > 0);
    assert.equal((await health(server)).statusCode, 200, 'a first failure is not an alarm');
    await server.advance(149);
    assert.deepEqual(await health(server), {
      statusCode: 503,
      body: 'No mail has been sent for more than two minutes. Check SMTP_URL and your mail account.',
    });
    const { body: metrics } = await server.metrics.render();
    assert.match(metrics, /^lead_page_outbox_depth 1$/m);
    assert.match(metrics, /^lead_page_outbox_age_seconds 149$/m);
    assert.match(metrics, /^lead_page_smtp_errors_total\{class="ESOCKET"\} [1-9]/m);
    assert.equal((await askFrom(server, '198.51.100.2', 'second@example.com')).statusCode, 202);
    await server.advance(1);
    const refused = await askFrom(server, '198.51.100.3', 'third@example.com');
    assert.deepEqual(refusalOf(refused), [503, 'mail-backlog']);
    assert.equal(refused.headers['retry-after'], '60');
    assert.equal((await health(server)).statusCode, 503);

    const wellAgain = await startInbox({}, port);
    await server.advance(60);
    server.wakeWorker();
    await wellAgain.waitForMail('first@example.com');
    await wellAgain.waitForMail('second@example.com');
    await server.advance(0);
    assert.equal((await askFrom(server, '198.51.100.3', 'third@example.com')).statusCode, 202);
    await wellAgain.waitForMail('third@example.com');
    assert.deepEqual((await health(server)).statusCode, 200);
    await server.advance(0);
    await wellAgain.close();
  });

  test('mail refused for everybody is retried and makes the health check fail', UNLIMITED, async (server) => {
    const replyWith = (code: number, words: string) =>
      server.inbox.behave({ onRecipient: () => smtpError(code, words) });
    const askNext = async (network: string, domain: string) => {
      const count = server.mailEvents.length;
      await askFrom(server, network, `me@${domain}`);
      await until(() => server.mailEvents.length > count);
      return server.mailEvents.at(-1)?.type;
    };
    const wellOne = { statusCode: 200, body: '{"status":"ok"}' };
    // One stranger can cause these errors with many domains or dead addresses, so they don't concern the site.
    replyWith(554, 'Nope');
    for (let count = 1; count <= 5; count += 1)
      assert.equal(await askNext('198.51.100.1', `${count}.evil.example`), 'refused');
    replyWith(550, '5.1.1 No such user');
    for (let count = 2; count <= 5; count += 1)
      assert.equal(await askNext(`198.51.100.${count}`, `${count}.dead.example`), 'refused');
    assert.deepEqual(await health(server), wellOne);
    replyWith(554, 'Nope');
    for (let count = 6; count <= 7; count += 1)
      assert.equal(await askNext(`198.51.100.${count}`, `${count}.example`), 'refused');
    assert.equal(await askNext('198.51.100.8', '8.example'), 'failed for now');
    const { statusCode, body } = await health(server);
    assert.equal(statusCode, 503);
    assert.match(body, /^The mail server refuses all our mail\. .*check SMTP_URL, MAIL_FROM/);
    server.inbox.behave({});
    await server.advance(2);
    server.wakeWorker();
    await server.inbox.waitForMail('me@8.example');
    await until(() => server.mailEvents.at(-1)?.type === 'sent');
    assert.deepEqual(await health(server), wellOne);
  });

  test(
    'a mail server that drops the connection at guides and operator mails does not close the form',
    { env: { GUIDE_EMAIL: 'link', NEW_LEAD_EMAIL: 'each', OPERATOR_EMAIL: 'op@example.org' } },
    async (server) => {
      const { visitor, code } = await askForCode(server, '198.51.100.7');
      await until(() => server.mailEvents.length === 1);
      server.inbox.behave(cutOffAt([EMAIL, 'op@example.org']));
      await enter(visitor, code);
      server.wakeWorker();
      await until(() => server.mailEvents.length > 2);
      await expectOpenForm(server);
    },
  );

  test('a mail server that drops the connection at one code does not close the form for others', async (server) => {
    server.inbox.behave(cutOffAt(['one@odd.example']));
    await askFrom(server, '198.51.100.7', 'one@odd.example');
    await until(() => server.mailEvents.length > 0);
    await expectOpenForm(server);
    await server.advance(200);
    assert.equal((await askFrom(server, '203.0.113.2', 'another@odd.example')).statusCode, 202);
  });

  test('a mail server that stops responding at guides and a few codes does not close the form', async (server) => {
    const now = server.now() - 3_600_000;
    for (const recipient of [EMAIL, 'bob@example.com'])
      await queueGuideMail(server.database.db, { id: uuid({ msecs: now }), leadId: uuid(), recipient, now });
    const waiting = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
    await insertPast(server, { seconds: 3_600, sent: 0, waiting });
    await putOff(server, { attempts: 9, error_class: 'stalled' });
    assert.equal((await askFrom(server, '203.0.113.1', 'honest@example.com')).statusCode, 202);
  });

  both('the lifetime and countdown of a late code start when it is mailed', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(451, 'Later') });
    const visitor = createVisitor(server, '203.0.113.1');
    const first = (await askUntilTried(server, visitor)).json<CodeRequested>();
    await server.advance(300);

    const again = await ask(visitor);
    assert.equal(again.statusCode, 202);
    assert.deepEqual(again.json<CodeRequested>(), first);
    const lost = createVisitor(server, '203.0.113.1');
    assert.equal((await ask(lost)).json<CodeRequested>().resendSeconds, 60);
    assert.equal(await server.countRows('outbox'), 1);
    await until(() => server.mailEvents.length === 2);

    server.inbox.behave({});
    await server.advance(40);
    server.wakeWorker();
    const mail = await server.inbox.waitForMail(EMAIL);
    assert.match(mail.parsed.text ?? '', /valid for 10 minutes/);
    await server.advance(20);
    const open = await visitor.get(API.challenge);
    assert.equal(open.json<OpenChallenge>().resendSeconds, 40);
    await ask(visitor);
    assert.equal(await server.countRows('outbox'), 1);

    await server.advance(579);
    assert.equal((await lost.get(API.challenge)).statusCode, 200, 'who rides on it lives as long');
    const verified = await enter(visitor, codeIn(mail));
    assert.equal(verified.statusCode, 200, verified.body);
  });

  test('the lifetime of a late code is limited to two lifetimes', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(451, 'Later') });
    const visitor = createVisitor(server);
    await askUntilTried(server, visitor);
    server.inbox.behave({});
    await server.advance(599);
    server.wakeWorker();
    const code = codeIn(await server.inbox.waitForMail(EMAIL));
    await server.advance(600);
    assert.equal((await enter(visitor, code)).statusCode, 400);
  });
});
