import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { SMTP_CONNECTIONS } from '#server/jobs/mail-jobs.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import { queueNotice } from '#server/mail/templates/notice-mail.ts';
import { queueGuideMail } from '#server/mail/templates/guide-mail.ts';
import { API, type CodeRequested, type OpenChallenge } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { codeIn, createGate, startInbox, smtpError, type InboxBehaviour } from '#testing/inbox.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const WITHOUT_LIMITS = {
  LEADS_PER_IP_PER_HOUR: '0',
  BREAKER_CODES_PER_MINUTE: '0',
  BREAKER_UNENTERED_PERCENT: '0',
};

const ask = (server: ServerUnderTest, address: string, email: string) =>
  createVisitor(server, address).post(API.leads, filledForm({ email }));

const health = async (server: ServerUnderTest) => {
  const { statusCode, body } = await server.app.inject(API.health);
  return { statusCode, body };
};

async function expectOpenForm(server: ServerUnderTest): Promise<void> {
  await server.advance(200);
  assert.deepEqual(await health(server), { statusCode: 200, body: '{"status":"ok"}' });
  assert.equal((await ask(server, '203.0.113.1', 'honest@example.net')).statusCode, 202);
  server.wakeWorker();
  await server.inbox.waitForMail('honest@example.net');
}

function cutOffAt(isCutOff: (recipient: string) => boolean): InboxBehaviour {
  let recipient = '';
  return {
    onRecipient: (address) => {
      recipient = address;
      return null;
    },
    onMessage: () => (isCutOff(recipient) ? 'cut off' : null),
  };
}

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
      network: '192.0.2.250',
      state: 'sent' as const,
      lease_id: null,
      leased_until: null,
      finished_at: Math.round(at + ((index + 1) * seconds * 1000) / sent),
    })),
  ];
  await server.database.db.insertInto('outbox').values(rows).execute();
}

async function insertPutOff(server: ServerUnderTest, waiting: readonly string[]) {
  await insertPast(server, { seconds: 14, sent: 7, waiting });
  await server.database.db
    .updateTable('outbox')
    .set({
      attempts: 1,
      error_class: 'ECONNECTION',
      due_at: server.now() + 3_600_000,
      lease_id: null,
      leased_until: null,
    })
    .where('state', '=', 'queued')
    .execute();
}

for (const engine of ENGINES) {
  describe(`mail backlog on ${engine}`, () => {
    for (const lane of ['network', 'recipient domain'] as const) {
      it(`a mail server that does not respond for one ${lane} does not delay the others`, async () => {
        const gate = createGate();
        const onRecipient = (address: string) => (address.endsWith('silent.example') ? gate.opened : null);
        await withServer({ engine, inbox: { onRecipient } }, async (server) => {
          try {
            for (let count = 1; count <= 20; count += 1) {
              const response = await (lane === 'network'
                ? ask(server, '198.51.100.1', `victim@${count}.silent.example`)
                : ask(server, `198.51.100.${count}`, `victim-${count}@silent.example`));
              assert.equal(response.statusCode, 202);
            }
            assert.equal((await ask(server, '203.0.113.1', 'honest@example.com')).statusCode, 202);
            await server.inbox.waitForMail('honest@example.com', 1, 4_000);
            assert.equal(server.inbox.mails.length, 1);
          } finally {
            gate.open();
          }
          await until(() => server.inbox.mails.length === 21);
        });
      });
    }

    it("a later visitor's mail overtakes bursts from two networks", async () => {
      const gate = createGate();
      let arrived = 0;
      const onMessage = () => {
        arrived += 1;
        return gate.opened;
      };
      await withServer({ engine, inbox: { onMessage } }, async (server) => {
        try {
          // Opens all connections, because mail on a new one could arrive later than mail taken after it.
          for (let count = 1; count <= SMTP_CONNECTIONS; count += 1)
            await ask(server, `192.0.2.${count}`, `early@early-${count}.example`);
          await until(() => arrived === SMTP_CONNECTIONS);
          // Uses two networks, because one may use only part of the connections.
          for (let count = 1; count <= 20; count += 1) {
            await ask(server, `198.51.100.${1 + (count % 2)}`, `burst-${count}@${count}.example`);
            // IDs from the same millisecond have no order.
            server.setClock(server.now() + 1);
          }
          await ask(server, '203.0.113.1', 'first@first.example');
          await ask(server, '203.0.113.2', 'second@second.example');
        } finally {
          gate.open();
        }
        await until(() => server.inbox.mails.length === SMTP_CONNECTIONS + 22);
        const order = server.inbox.mails.map(({ to }) => to);
        const story = `${String(order)} ${JSON.stringify(server.mailEvents)}`;
        assert.ok(order.indexOf('second@second.example') < order.indexOf('burst-8@8.example'), story);
        assert.ok(order.indexOf('burst-12@12.example') < order.indexOf('burst-18@18.example'), story);
      });
    });

    it('a form gets 503 with a waiting time if its code would be mailed too late', () =>
      withServer({ engine, env: { ...WITHOUT_LIMITS, CODE_TTL_SECONDS: '60' } }, async (server) => {
        // The server sends five mails a second, and a code may wait for fifteen seconds.
        const networks = Array.from({ length: 80 }, (_, index) => `198.51.100.${index}`);
        await insertPast(server, { seconds: 10, sent: 50, waiting: networks.slice(0, 70) });
        assert.equal((await ask(server, '203.0.113.1', 'in-time@example.com')).statusCode, 202);
        assert.equal((await health(server)).statusCode, 200);
        await server.inbox.waitForMail('in-time@example.com');

        await insertPast(server, { seconds: 10, sent: 0, waiting: networks.slice(70) });
        const refused = await ask(server, '203.0.113.2', 'late@example.com');
        assert.equal(refused.statusCode, 503);
        assert.equal(refused.headers['x-error-code'], 'mail-backlog');
        assert.match(refused.body, /^We cannot send codes fast enough .* Please send the form again in \d+ /);
        const retryAfter = Number(refused.headers['retry-after']);
        assert.ok(retryAfter >= 1 && retryAfter < 60, String(retryAfter));
        assert.equal(await server.countRows('submissions'), 1, 'nothing of it is stored');
        assert.equal(await server.countRows('codes'), 1);
        assert.deepEqual(await health(server), {
          statusCode: 503,
          body: 'Mail is being sent more slowly than forms arrive, so forms are refused until the queue is shorter.',
        });
      }));

    it('a mail backlog caused by one network refuses only that network', () =>
      withServer({ engine, env: { ...WITHOUT_LIMITS, CODE_TTL_SECONDS: '60' } }, async (server) => {
        const waiting = Array.from({ length: 400 }, () => '198.51.100.1');
        await insertPast(server, { seconds: 10, sent: 50, waiting });
        assert.equal((await ask(server, '198.51.100.1', 'more@example.com')).statusCode, 503);
        assert.equal((await ask(server, '203.0.113.1', 'honest@example.com')).statusCode, 202);
        await server.inbox.waitForMail('honest@example.com');
      }));

    it("a growing mail backlog is counted even while the mail server's pace is unknown", async () => {
      const gate = createGate();
      const env = { ...WITHOUT_LIMITS, CODE_TTL_SECONDS: '60' };
      await withServer({ engine, env, inbox: { onMessage: () => gate.opened } }, async (server) => {
        const statuses: number[] = [];
        try {
          for (let count = 1; count <= 90; count += 1)
            statuses.push((await ask(server, '198.51.100.1', `burst-${count}@example.com`)).statusCode);
        } finally {
          gate.open();
        }
        assert.equal(statuses.filter((status) => status === 202).length, 76, String(statuses));
        assert.equal(statuses.filter((status) => status === 503).length, 14);
      });
    });

    it('a mail backlog excludes mail already sent', () =>
      withServer({ engine, env: { ...WITHOUT_LIMITS, CODE_TTL_SECONDS: '60' } }, async (server) => {
        // More than the 76 mails that may wait for one network.
        for (let count = 1; count <= 90; count += 1) {
          const response = await ask(server, '198.51.100.1', `quick-${count}@example.com`);
          assert.equal(response.statusCode, 202, `form ${count}: ${response.body}`);
          await until(() => server.mailEvents.length === count);
        }
        assert.equal((await health(server)).statusCode, 200);
      }));

    it('deferred mail for many networks lengthens the expected wait, even while new mail is queued', () =>
      withServer({ engine, env: { ...WITHOUT_LIMITS, CODE_TTL_SECONDS: '60' } }, async (server) => {
        // One mail in two seconds, so a mail after sixty would wait for two minutes.
        const networks = Array.from({ length: 60 }, (_, index) => `198.51.100.${index}`);
        await insertPutOff(server, networks);
        assert.equal((await ask(server, '203.0.113.1', 'late@example.com')).statusCode, 503);

        await insertPast(server, { seconds: 0, sent: 0, waiting: ['198.51.100.250'] });
        assert.equal((await ask(server, '203.0.113.2', 'late@example.org')).statusCode, 503);
      }));

    it('deferred mail for a few networks does not delay later mail', () =>
      withServer({ engine, env: { ...WITHOUT_LIMITS, CODE_TTL_SECONDS: '60' } }, async (server) => {
        const networks = Array.from({ length: 60 }, (_, index) => `198.51.100.${index % 10}`);
        await insertPutOff(server, networks);
        assert.equal((await ask(server, '203.0.113.1', 'in-time@example.com')).statusCode, 202);
      }));

    it('a short outage of the mail server is reported, and a long one closes the form until mail is sent', () =>
      withServer({ engine }, async (server) => {
        const { port } = server.inbox;
        await server.inbox.close();
        assert.equal((await ask(server, '198.51.100.1', 'first@example.com')).statusCode, 202);
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
        assert.equal((await ask(server, '198.51.100.2', 'second@example.com')).statusCode, 202);
        await server.advance(1);
        const refused = await ask(server, '198.51.100.3', 'third@example.com');
        assert.equal(refused.statusCode, 503);
        assert.equal(refused.headers['x-error-code'], 'mail-backlog');
        assert.equal(refused.headers['retry-after'], '60');
        assert.equal((await health(server)).statusCode, 503);

        const wellAgain = await startInbox({}, port);
        await server.advance(60);
        server.wakeWorker();
        await wellAgain.waitForMail('first@example.com');
        await wellAgain.waitForMail('second@example.com');
        await server.advance(0);
        assert.equal((await ask(server, '198.51.100.3', 'third@example.com')).statusCode, 202);
        await wellAgain.waitForMail('third@example.com');
        assert.deepEqual((await health(server)).statusCode, 200);
        await server.advance(0);
        await wellAgain.close();
      }));

    it("a mail backlog caused by a stranger's own domain does not close the form for anyone else", () =>
      withServer(
        {
          engine,
          env: WITHOUT_LIMITS,
          inbox: {
            onRecipient: (address) =>
              address.endsWith('evil.example') ? smtpError(451, 'Come back never') : null,
          },
        },
        async (server) => {
          for (let count = 1; count <= 30; count += 1) {
            await ask(server, '198.51.100.1', `me-${count}@${count}.evil.example`);
          }
          await until(async () => server.mailEvents.length >= 30);
          await expectOpenForm(server);
        },
      ));

    it('mail refused for everybody is retried and makes the health check fail', async () => {
      let reply: Error | null = smtpError(554, 'Nope');
      await withServer(
        { engine, env: WITHOUT_LIMITS, inbox: { onRecipient: () => reply } },
        async (server) => {
          const askNext = async (network: string, domain: string) => {
            const count = server.mailEvents.length;
            await ask(server, network, `me@${domain}`);
            await until(() => server.mailEvents.length > count);
            return server.mailEvents.at(-1)?.type;
          };
          const wellOne = { statusCode: 200, body: '{"status":"ok"}' };
          // One stranger can cause these errors with many domains or dead addresses, so they don't concern the site.
          for (let count = 1; count <= 5; count += 1)
            assert.equal(await askNext('198.51.100.1', `${count}.evil.example`), 'refused');
          reply = smtpError(550, '5.1.1 No such user');
          for (let count = 2; count <= 5; count += 1)
            assert.equal(await askNext(`198.51.100.${count}`, `${count}.dead.example`), 'refused');
          assert.deepEqual(await health(server), wellOne);
          reply = smtpError(554, 'Nope');
          for (let count = 6; count <= 7; count += 1)
            assert.equal(await askNext(`198.51.100.${count}`, `${count}.example`), 'refused');
          assert.equal(await askNext('198.51.100.8', '8.example'), 'failed for now');
          const { statusCode, body } = await health(server);
          assert.equal(statusCode, 503);
          assert.match(body, /^The mail server refuses all our mail\. .*check SMTP_URL, MAIL_FROM/);
          reply = null;
          await server.advance(2);
          server.wakeWorker();
          await server.inbox.waitForMail('me@8.example');
          await until(() => server.mailEvents.at(-1)?.type === 'sent');
          assert.deepEqual(await health(server), wellOne);
        },
      );
    });

    it('a backlog of deferred mail to the operator does not close the form', () =>
      withServer(
        {
          engine,
          env: WITHOUT_LIMITS,
          inbox: {
            onRecipient: (address) => (address.endsWith('late.example') ? smtpError(451, 'Later') : null),
          },
        },
        async (server) => {
          for (let count = 1; count <= 6; count += 1)
            await queueNotice(server.database.db, {
              recipients: ['operator@late.example'],
              subject: 'News',
              text: 'News.',
              now: server.now(),
            });
          await ask(server, '198.51.100.1', 'one@one.late.example');
          await ask(server, '198.51.100.2', 'two@two.late.example');
          await until(async () => server.mailEvents.length >= 8);
          await expectOpenForm(server);
        },
      ));

    for (const [about, env, to] of [
      ['a guide', { GUIDE_EMAIL: 'link', PUBLIC_URL: 'https://guide.example.com' }, 'ada@example.com'],
      [
        'news for the operator',
        { NEW_LEAD_EMAIL: 'each', OPERATOR_EMAIL: 'op@example.org' },
        'op@example.org',
      ],
    ] as const)
      it(`a mail server that drops the connection at ${about} does not close the form`, async () => {
        let isVerified = false;
        const inbox = cutOffAt((recipient) => isVerified && recipient === to);
        await withServer({ engine, env, inbox }, async (server) => {
          const visitor = createVisitor(server, '198.51.100.7');
          await visitor.post(API.leads, filledForm());
          const code = codeIn(await server.inbox.waitForMail('ada@example.com'));
          await until(() => server.mailEvents.length === 1);
          isVerified = true;
          await visitor.post(API.verify, { email: 'ada@example.com', code });
          server.wakeWorker();
          await until(() => server.mailEvents.length > 1);
          await expectOpenForm(server);
        });
      });

    it('a mail server that drops the connection at one code does not close the form for others', () =>
      withServer(
        { engine, inbox: cutOffAt((recipient) => recipient === 'one@odd.example') },
        async (server) => {
          await ask(server, '198.51.100.7', 'one@odd.example');
          await until(() => server.mailEvents.length > 0);
          await expectOpenForm(server);
          await server.advance(200);
          assert.equal((await ask(server, '203.0.113.2', 'another@odd.example')).statusCode, 202);
        },
      ));

    it('a mail server that stops responding at a guide does not close the form', () =>
      withServer({ engine }, async (server) => {
        const now = server.now() - 3_600_000;
        const recipient = 'ada@example.com';
        await queueGuideMail(server.database.db, {
          id: uuid({ msecs: now }),
          leadId: uuid(),
          recipient,
          now,
        });
        await server.database.db
          .updateTable('outbox')
          .set({ attempts: 9, due_at: server.now() + 3_600_000, error_class: 'stalled' })
          .execute();
        assert.equal((await ask(server, '203.0.113.1', 'honest@example.com')).statusCode, 202);
      }));

    it('the lifetime and countdown of a late code start when it is mailed', async () => {
      let refuses = true;
      const onRecipient = () => (refuses ? smtpError(451, 'Later') : null);
      await withServer({ engine, inbox: { onRecipient } }, async (server) => {
        const visitor = createVisitor(server, '203.0.113.1');
        const resend = () => visitor.post(API.leads, filledForm());
        const first = (await resend()).json<CodeRequested>();
        await until(() => server.mailEvents.length === 1);
        await server.advance(300);

        const again = await resend();
        assert.equal(again.statusCode, 202);
        assert.deepEqual(again.json<CodeRequested>(), first);
        const lost = createVisitor(server, '203.0.113.1');
        assert.equal((await lost.post(API.leads, filledForm())).json<CodeRequested>().resendSeconds, 60);
        assert.equal(await server.countRows('outbox'), 1);
        await until(() => server.mailEvents.length === 2);

        refuses = false;
        await server.advance(40);
        server.wakeWorker();
        const mail = await server.inbox.waitForMail('ada@example.com');
        assert.match(mail.parsed.text ?? '', /valid for 10 minutes/);
        await server.advance(20);
        const open = await visitor.get(API.challenge);
        assert.equal(open.json<OpenChallenge>().resendSeconds, 40);
        await resend();
        assert.equal(await server.countRows('outbox'), 1);

        await server.advance(579);
        assert.equal((await lost.get(API.challenge)).statusCode, 200, 'who rides on it lives as long');
        const verified = await visitor.post(API.verify, { email: 'ada@example.com', code: codeIn(mail) });
        assert.equal(verified.statusCode, 200, verified.body);
      });
    });

    it('the lifetime of a late code is limited to two lifetimes', async () => {
      let refuses = true;
      const onRecipient = () => (refuses ? smtpError(451, 'Later') : null);
      await withServer({ engine, inbox: { onRecipient } }, async (server) => {
        const visitor = createVisitor(server);
        await visitor.post(API.leads, filledForm());
        await until(() => server.mailEvents.length === 1);
        refuses = false;
        await server.advance(599);
        server.wakeWorker();
        const code = codeIn(await server.inbox.waitForMail('ada@example.com'));
        await server.advance(600);
        const late = await visitor.post(API.verify, { email: 'ada@example.com', code });
        assert.equal(late.statusCode, 400);
      });
    });
  });
}
