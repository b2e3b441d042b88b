import assert from 'node:assert/strict';
import { it } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { DAY_MS } from '#server/platform/time.ts';
import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import {
  endpointsOf,
  type LeadEventBody,
  queueLeadEvent,
  testEvent,
} from '#server/webhooks/webhook-events.ts';
import { createWebhookSender } from '#server/webhooks/webhook-sender.ts';
import { startWebhookWorker } from '#server/webhooks/webhook-worker.ts';
import { API, WITH_ARTICLE } from '#shared/api.ts';
import { TOUCH_NAMES } from '#shared/funnel.ts';
import { countWaitingStatements } from '#testing/address-lock.ts';
import { freshDatabase } from '#testing/databases.ts';
import { desk, refused } from '#testing/desk.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import { askForCode } from '#testing/lead-calls.ts';
import { leadRow } from '#testing/lead-row.ts';
import { withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { becomeLead, EMAIL, outcomes, typesOf, webhooksAt, withWebhook } from '#testing/webhook-leads.ts';
import { accept, refuse, withReceiver } from '#testing/webhook-receiver.ts';
import { describeOnEachEngine } from '#testing/on-each-engine.ts';
import { valuesOf } from '#testing/values-of.ts';

describeOnEachEngine('webhooks', ({ engine, test, both }) => {
  both("a webhook receives a lead's signed events in order, and only the ID after erasure", () =>
    withWebhook({ engine }, async (server, receiver) => {
      server.setClock(Date.now());
      const { secrets } = server.service.webhooks;
      const leadId = await becomeLead(server);
      await outcomes(server, 2);
      await server.advance(61);
      await becomeLead(server, EMAIL, { company: 'Engines & Co' });
      await desk(server.service, ['correct', EMAIL, '--name', 'Ada King']);
      server.service.webhooks.wake();
      await outcomes(server, 4);
      await desk(server.service, ['erase', EMAIL, '--yes']);
      server.service.webhooks.wake();
      await outcomes(server, 5);

      const { received } = receiver;
      assert.deepEqual(typesOf(received), [
        'lead.verified',
        'lead.read',
        'lead.updated',
        'lead.updated',
        'lead.erased',
      ]);
      for (const { headers, text, event } of received) {
        const verified = new Webhook(secrets[0]!).verify(text, headers as Record<string, string>);
        assert.deepEqual(verified, event);
      }
      assert.equal(new Set(received.map(({ id }) => id)).size, 5);
      const first = received[0]!.event;
      assert.ok('email' in first.data.lead);
      const { timestamp } = first;
      assert.deepEqual(first, {
        type: 'lead.verified',
        timestamp,
        data: {
          lead: {
            id: leadId,
            email: EMAIL,
            name: 'Ada Lovelace',
            first_name: 'Ada',
            last_name: 'Lovelace',
            company: 'Analytical Engines',
            first_verified_at: timestamp,
            last_verified_at: timestamp,
            first_read_at: null,
            consent: {
              given_at: first.data.lead.consent?.given_at,
              version: 'not-stated',
              text: first.data.lead.consent?.text,
            },
            source: 'newsletter',
            attribution: { utm_source: 'newsletter' },
            flags: [],
            unsubscribe_url: unsubscribeUrlOf(server.service)(leadId),
          },
        },
      } satisfies Record<keyof LeadEventBody, unknown>);
      const leads = received.map(
        ({ event }) => event.data.lead as { name?: string; company?: string; first_read_at?: string | null },
      );
      assert.equal(leads[1]?.first_read_at, received[1]!.event.timestamp);
      assert.deepEqual(leads[2]?.company, 'Engines & Co');
      assert.deepEqual(leads[3]?.name, 'Ada King');
      assert.deepEqual(leads[4], { id: leadId });

      const rows = await server.database.db.selectFrom('webhook_events').selectAll().execute();
      assert.deepEqual(
        rows.map(({ type, state, payload, reply }) => ({ type, state, payload, reply })),
        [{ type: 'lead.erased', state: 'sent', payload: '', reply: '204' }],
      );
      assert.doesNotMatch(server.logLines.join(''), /a-secret-path|ada@|Lovelace|whsec_/);
      const { body } = await server.metrics.render();
      assert.match(body, /^lead_page_webhooks_total\{outcome="sent"\} 5$/m);
      assert.match(body, /^lead_page_webhook_events\{state="queued"\} 0$/m);
      assert.doesNotMatch(body, /127\.0\.0\.1|secret-path/);

      server.setClock(server.now() + 31 * DAY_MS);
      await housekeeperOf(server).runHousekeeping();
      assert.equal(await server.countRows('webhook_events'), 0, 'deleted with old mail');
    }),
  );

  test('events that WEBHOOK_EVENTS omits are not queued', () =>
    withWebhook(
      { engine, env: { WEBHOOK_EVENTS: 'lead.verified,lead.unsubscribed' } },
      async (server, receiver) => {
        await becomeLead(server);
        await desk(server.service, ['correct', EMAIL, '--name', 'Ada King']);
        await outcomes(server, 1);
        assert.deepEqual(typesOf(receiver.received), ['lead.verified']);
        assert.equal(await server.countRows('webhook_events'), 1);
        await desk(server.service, ['erase', EMAIL, '--yes']);
        assert.equal(await server.countRows('webhook_events'), 0);
      },
    ));

  test('a webhook receives only the first reading of a lead', () =>
    withWebhook({ engine }, async (server, receiver) => {
      const { visitor, code } = await askForCode(server);
      const headers = { prefer: WITH_ARTICLE };
      const response = await visitor.post(API.verify, { email: EMAIL, code }, { headers });
      assert.equal(response.headers['preference-applied'], WITH_ARTICLE);
      const leads = await server.database.db.selectFrom('leads').select('first_read_at').execute();
      assert.deepEqual(leads, [{ first_read_at: server.now() }]);
      await server.advance(60);
      assert.equal((await visitor.get(API.article)).statusCode, 200);
      await outcomes(server, 2);
      assert.equal(await server.countRows('webhook_events'), 2);
      assert.deepEqual(typesOf(receiver.received), ['lead.verified', 'lead.read']);
    }));

  both('a webhook receives only the erasure of an erased lead, even if a process starts', () =>
    withWebhook({ engine }, async (server, receiver) => {
      const open: (() => void)[] = [];
      receiver.respondWith((received, response) => {
        if (received.event.type === 'lead.verified') open.push(() => accept(received, response));
        else accept(received, response);
      });
      const leadId = await becomeLead(server);
      await until(() => open.length === 1);
      await desk(server.service, ['erase', EMAIL, '--yes']);
      const { service, database } = server;
      const started = startWebhookWorker({
        database,
        endpoints: service.webhooks.endpoints,
        send: () => assert.fail('Nothing is due.'),
        clock: server.now,
        random: () => 0.5,
        onOutcome: () => {},
        onError: (error) => assert.fail(String(error)),
      });
      await started.stop();
      service.webhooks.wake();
      const { db } = database;
      const [row, ...others] = await db.selectFrom('webhook_events').selectAll().execute();
      assert.deepEqual([row?.type, row?.lead_id, others.length], ['lead.erased', leadId, 0]);
      assert.ok(row!.due_at >= server.now() + 10_000, 'not before the try in hand is over');
      open[0]!();
      await outcomes(server, 1);
      await server.advance(31);
      server.service.webhooks.wake();
      await outcomes(server, 2);
      assert.deepEqual(typesOf(receiver.received), ['lead.verified', 'lead.erased']);
    }),
  );

  both('a webhook receives each event once, although several processes send events', () =>
    withReceiver(undefined, async (receiver) => {
      await using database = await freshDatabase(engine);
      const endpoints = endpointsOf([receiver.url]);
      const leads = Array.from({ length: 10 }, (_, number) => `lead-${number}`);
      const now = Date.now();
      const rows = leads.map((id) => leadRow(id, {}));
      await database.db.insertInto('leads').values(rows).execute();
      const types = ['lead.verified', 'lead.read', 'lead.updated'] as const;
      for (const type of types)
        for (const leadId of leads)
          await database.db
            .transaction()
            .execute((tx) =>
              queueLeadEvent(tx, { endpoints, unsubscribeUrl: (id) => id }, { type, leadId, now }),
            );
      const seen: unknown[] = [];
      const workers = Array.from({ length: 3 }, () =>
        startWebhookWorker({
          database,
          endpoints,
          send: createWebhookSender({ secrets: ['whsec_c2VjcmV0'], allowPrivate: true }),
          clock: () => Date.now(),
          random: () => 0.5,
          onOutcome: (outcome) => void seen.push(outcome),
          onError: (error) => assert.fail(String(error)),
        }),
      );
      await until(() => seen.length === 30);
      await Promise.all(workers.map(({ stop }) => stop()));
      assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 30);
      assert.equal(receiver.received.length, 30);
      for (const id of leads) {
        const ofOne = receiver.received.filter(({ event }) => event.data.lead.id === id);
        assert.deepEqual(typesOf(ofOne), types);
      }
    }),
  );
});

it('an event queued during the erasure of its lead is deleted on PostgreSQL', () =>
  withWebhook({ engine: 'postgres' }, async (server) => {
    const leadId = await becomeLead(server);
    await outcomes(server, 2);
    await server.advance(0);
    const { db } = server.database;
    const { webhooks } = server.service;
    const erasing = await db.transaction().execute(async (tx) => {
      await webhooks.queue(tx, { type: 'lead.unsubscribed', leadId, now: server.now() });
      const started = desk(server.service, ['erase', EMAIL, '--yes']);
      await until(async () => (await countWaitingStatements(db)) > 0);
      return { started };
    });
    assert.equal((await erasing.started).exitCode, 0);
    const rows = await db.selectFrom('webhook_events').select(['type', 'payload']).execute();
    assert.deepEqual(valuesOf(rows, 'type'), ['lead.erased']);
    assert.doesNotMatch(JSON.stringify(rows), /ada@/);
  }));

it('"desk webhooks" prints each endpoint\'s response and the signing secret', () =>
  withReceiver(undefined, (here) =>
    withReceiver(refuse, (away) =>
      withServer(
        {
          engine: 'sqlite',
          env: { ...webhooksAt(here, away), WEBHOOK_SECRET: 'whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldw==' },
        },
        async (server) => {
          server.setClock(Date.now());
          const response = await desk(server.service, ['webhooks', 'test']);
          assert.equal(response.exitCode, 1);
          assert.match(
            response.out,
            /^sent {2}127\.0\.0\.1:\d+ {2}204\nnot sent {2}127\.0\.0\.1:\d+ {2}503\n$/,
          );
          const [{ text, headers, event } = assert.fail()] = here.received;
          assert.equal(event.type, 'lead.test');
          const { out } = await desk(server.service, ['webhooks', 'secret']);
          assert.equal(out, 'whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldw==\n');
          new Webhook(out.trim()).verify(text, headers as Record<string, string>);
        },
      ),
    ),
  ));

it('the test event has every campaign parameter and the variant, so that programs can map them', () => {
  const options = { unsubscribeUrl: (id: string) => id, fields: [], hasNews: true, variant: 'b' };
  const { lead } = testEvent(0, options).data;
  assert.ok('attribution' in lead);
  assert.deepEqual(Object.keys(lead.attribution), TOUCH_NAMES);
  assert.equal(lead.variant, 'b');
});

it('"desk webhooks test" says what to do if no URL is configured', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    await refused(desk(server.service, ['webhooks', 'test']), /^WEBHOOK_URLS is not set\. Set it/);
    const { out } = await desk(server.service, ['webhooks', 'secret']);
    assert.match(out, /^whsec_[A-Za-z0-9+/]{43}=\n$/);
  }));
