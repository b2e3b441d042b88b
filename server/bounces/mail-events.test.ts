import assert from 'node:assert/strict';
import { it } from 'node:test';

import { acceptReportsOnce } from '#server/bounces/accept-report.ts';
import { buildApp } from '#server/startup/app.ts';
import { inTurnBehindLock } from '#testing/address-lock.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { askAndReceive } from '#testing/lead-calls.ts';
import {
  EMAIL,
  MAILGUN_KEY,
  PROVIDERS,
  type ProviderEvent,
  withAmazon,
  asMailgun,
  asSendGrid,
  CALLS,
  post,
  report,
  expectRefusal,
  reasons,
} from '#testing/mail-providers.ts';
import { withServer } from '#testing/server-under-test.ts';
import { describeOnEachEngine } from '#testing/on-each-engine.ts';

describeOnEachEngine('mail provider webhooks', ({ engine, test, both }) => {
  for (const [at, name] of PROVIDERS.entries()) {
    const add = at === 0 ? both : test;
    add(`a ${name} bounce or complaint is stored once and only undone by a newer consent`, () =>
      withAmazon({ engine }, async (server) => {
        const bounce = { kind: 'bounce', at: server.now() } as const;
        await report(server, name, { ...bounce, kind: 'soft bounce' });
        assert.deepEqual(await reasons(server), []);
        await report(server, name, bounce);
        await report(server, name, bounce);
        assert.deepEqual(await reasons(server), ['bounced']);

        await server.advance(61);
        const complaint = { kind: 'complaint', at: server.now() } as const;
        await server.advance(1);
        const { leadId } = await becomeLead(server, EMAIL, 2);
        assert.deepEqual(await reasons(server), []);
        await server.advance(3_600);
        await report(server, name, bounce);
        await report(server, name, complaint);
        assert.deepEqual(await reasons(server), []);

        await report(server, name, { ...complaint, at: server.now() });
        await report(server, name, { ...complaint, at: server.now() });
        assert.deepEqual(await reasons(server), ['complained']);
        const withdrawals = await server.database.db.selectFrom('withdrawals').selectAll().execute();
        assert.deepEqual(
          withdrawals.map(({ lead_id, way }) => [lead_id, way]),
          [[leadId, 'complaint']],
        );
        assert.doesNotMatch(server.logLines.join(''), /ada@|example\.com/);
      }),
    );
  }

  if (engine === 'postgres')
    both('two calls that name the same people in another order do not block each other', () =>
      withServer({ engine }, async ({ service, now }) => {
        const take = (...names: readonly string[]) => {
          const bounce = { reason: 'bounced', note: null, happenedAt: now() } as const;
          const reports = names.map((name) => ({ ...bounce, email: `${name}@example.com` }));
          return acceptReportsOnce(
            service,
            { reports, once: { key: names.join(), until: now() + 1000 } },
            now(),
          );
        };
        const taken = await inTurnBehindLock(service.database, 'cleo@example.com', [
          () => take('ada', 'cleo', 'bob'),
          () => take('bob', 'ada'),
        ]);
        assert.deepEqual(taken, [
          ['unknown', 'unknown', 'unknown'],
          ['unknown', 'unknown'],
        ]);
      }),
    );

  both("a provider's event about an unknown e-mail address stores nothing", () =>
    withAmazon({ engine }, async (server) => {
      for (const name of PROVIDERS)
        for (const email of ['eve@example.com', 'nonsense', 'a\u0000b@example.com', '']) {
          await report(server, name, { kind: 'bounce', email, at: server.now() });
          await report(server, name, { kind: 'complaint', email, at: server.now() });
        }
      assert.deepEqual(await reasons(server), []);
    }),
  );

  both('a Mailgun token is accepted once, and again only after the server failed to process it', () =>
    withAmazon({ engine }, async (server) => {
      const now = server.now();
      const bounce: ProviderEvent = { kind: 'bounce', at: now };
      await using second = await buildApp(server.service, { release: null, isStopping: () => false });
      const processes = [server, { ...server, app: second }];
      const statuses = async (kinds: readonly ProviderEvent['kind'][], token: string) => {
        const calls = kinds.map((kind, index) =>
          post(processes[index % 2] ?? server, 'mailgun', asMailgun({ ...bounce, kind }, now, token)),
        );
        return (await Promise.all(calls)).map(({ statusCode }) => statusCode).toSorted();
      };
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
    }),
  );

  test('a SendGrid event with an unexpected field is accepted, and an unreadable one is logged', () =>
    withAmazon({ engine }, async (server) => {
      await askAndReceive(server, 'grace@example.com');
      const at = server.now();
      const timestamp = String(Math.ceil(at / 1_000));
      const bounce = { kind: 'bounce', at } as const;
      const complaint = { kind: 'complaint', email: 'grace@example.com', at } as const;
      const send = async (event: ProviderEvent, odd: object) =>
        assert.equal((await post(server, 'sendgrid', asSendGrid([event], at, odd))).statusCode, 200);
      await send(bounce, { status: null, reason: `550 5.1.1 <${EMAIL}>: no such user` });
      await send(complaint, { reason: null, type: null, timestamp });
      assert.deepEqual(await reasons(server), ['bounced', 'complained']);
      const warnings = () => server.logLines.filter((line) => line.includes('could not be read')).length;
      assert.equal(warnings(), 0);
      for (const odd of [{ email: null }, { timestamp: null }, { reason: {} }]) await send(bounce, odd);
      assert.equal(warnings(), 3);
      assert.doesNotMatch(server.logLines.join(''), /ada@|grace@/);
    }));

  both('each mail provider event in a batch is processed separately', () =>
    withAmazon({ engine }, async (server) => {
      await askAndReceive(server, 'grace@example.com');
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
    }),
  );
});

for (const name of PROVIDERS)
  it(`a ${name} e-mail address is read in brackets or after a name`, () =>
    withAmazon({ engine: 'sqlite' }, async (server) => {
      const at = server.now();
      const unread = () => server.logLines.filter((line) => line.includes('could not be read')).length;
      await report(server, name, { kind: 'bounce', email: `<${EMAIL}>`, at });
      await report(server, name, { kind: 'complaint', email: `"Lovelace, Ada" <${EMAIL}>`, at });
      assert.deepEqual([await reasons(server), unread()], [['bounced', 'complained'], 0]);
      await report(server, name, { kind: 'bounce', email: 'ada at example', at });
      assert.equal(unread(), 1);
      assert.doesNotMatch(server.logLines.join(''), /ada@|ada at/);
    }));

it('a mail provider has no webhook route until it is configured', () =>
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

it('a mail provider webhook with a wrong method, type, size or shape is refused', () =>
  withAmazon({ engine: 'sqlite' }, async (server) => {
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
