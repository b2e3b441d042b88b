import assert from 'node:assert/strict';

import { DAY_MS } from '#server/platform/time.ts';
import { endpointsOf } from '#server/webhooks/webhook-events.ts';
import { freshDatabase } from '#testing/databases.ts';
import { desk, refused } from '#testing/desk.ts';
import { withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { becomeLead, EMAIL, outcomes, typesOf, webhooksAt, withWebhook } from '#testing/webhook-leads.ts';
import { accept, refuse, withReceiver } from '#testing/webhook-receiver.ts';
import { describeOnEachEngine } from '#testing/on-each-engine.ts';

describeOnEachEngine('webhook endpoints', ({ engine, test, both }) => {
  both("a webhook endpoint gets each lead's events in order after an outage", () =>
    withReceiver(refuse, (away) =>
      withReceiver(undefined, (here) =>
        withServer({ engine, env: webhooksAt(away, here) }, async (server) => {
          await becomeLead(server);
          await becomeLead(server, 'eve@example.com');
          await until(() => here.received.length === 4 && away.received.length === 2);
          await outcomes(server, 6);
          assert.deepEqual(typesOf(away.received), ['lead.verified', 'lead.verified']);
          await server.advance(10);
          server.service.webhooks.wake();
          await outcomes(server, 8);
          away.respondWith(accept);
          await server.advance(60);
          server.service.webhooks.wake();
          await outcomes(server, 12);
          for (const email of [EMAIL, 'eve@example.com']) {
            const ofOne = away.received.filter(
              ({ event: { data } }) => 'email' in data.lead && data.lead.email === email,
            );
            assert.deepEqual(typesOf(ofOne), [
              'lead.verified',
              'lead.verified',
              'lead.verified',
              'lead.read',
            ]);
            assert.equal(new Set(ofOne.slice(0, 3).map(({ id }) => id)).size, 1, 'one id for each try');
            assert.equal(new Set(ofOne.slice(0, 3).map(({ text }) => text)).size, 1);
          }
          assert.equal(here.received.length, 4);
        }),
      ),
    ),
  );

  both('a webhook endpoint is retried for 24 hours at growing intervals', () =>
    withWebhook({ engine }, async (server, receiver) => {
      receiver.respondWith(refuse);
      const begun = server.now();
      await becomeLead(server);
      const waits: number[] = [];
      for (let tries = 1; !server.webhookOutcomes.some(({ type }) => type === 'dead'); tries += 1) {
        await outcomes(server, tries);
        await server.advance(0);
        const { due_at: due } = await server.database.db
          .selectFrom('webhook_events')
          .select('due_at')
          .orderBy('position')
          .executeTakeFirstOrThrow();
        waits.push(Math.round((due - server.now()) / 1000));
        server.setClock(Math.max(due, server.now()));
        server.service.webhooks.wake();
      }
      await server.advance(0);
      assert.equal(server.now(), begun + DAY_MS, 'the last try is after a day');
      assert.deepEqual(waits.slice(0, 8), [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400]);

      await until(() => server.webhookOutcomes.filter(({ type }) => type === 'dead').length === 2);
      await server.advance(0);
      const listed = await desk(server.service, ['webhooks', 'list']);
      assert.match(listed.out, /lead\.verified +dead +\d+ .* 127\.0\.0\.1:\d+ +503 /);
      assert.match(listed.out, /lead\.read +dead/);
      assert.equal(listed.notes, '0 waiting, 2 dead.');
      assert.doesNotMatch(listed.out, /a-secret-path|ada@/);
      assert.match(
        (await desk(server.service, ['show', EMAIL])).out,
        /webhook dead\n {4}event: lead\.verified\n {4}attempts: \d+\n {4}the receiver responded: 503/,
      );
      assert.match((await server.metrics.render()).body, /^lead_page_webhook_events\{state="dead"\} 2$/m);

      receiver.respondWith(accept);
      const before = receiver.received.length;
      assert.equal((await desk(server.service, ['webhooks', 'retry'])).exitCode, 2);
      const none = desk(server.service, ['webhooks', 'retry', 'nothing', 'nothing']);
      await refused(none, /^1 of these IDs is not of a dead event to a URL in WEBHOOK_URLS\.$/m);
      const webhooks = { ...server.service.webhooks, endpoints: endpointsOf(['https://new.example']) };
      const gone = await desk({ ...server.service, webhooks }, ['webhooks', 'retry', '--all']);
      assert.match(gone.notes, /^0 events will be retried\.\n2 dead events are to URLs that WEBHOOK_URLS no/);
      const retried = await desk(server.service, ['webhooks', 'retry', '--all']);
      assert.equal(retried.notes, '2 events will be retried.');
      server.service.webhooks.wake();
      await until(() => receiver.received.length === before + 2);
      assert.deepEqual(typesOf(receiver.received.slice(before)), ['lead.verified', 'lead.read']);
      await until(() => server.webhookOutcomes.at(-1)?.event === 'lead.read');
      const rest = await desk(server.service, ['webhooks', 'list', '--json']);
      assert.deepEqual(JSON.parse(rest.out), { queued: 0, dead: 0, events: [] });
    }),
  );

  test('a webhook event is not sent again after a 410 response, but the next event is sent', () =>
    withWebhook({ engine }, async (server, receiver) => {
      receiver.respondWith(
        ({ event }, response) => void response.writeHead(event.type === 'lead.verified' ? 410 : 204).end(),
      );
      await becomeLead(server);
      await outcomes(server, 2);
      assert.deepEqual(
        server.webhookOutcomes.map(({ type, event, response }) => [type, event, response]),
        [
          ['dead', 'lead.verified', '410'],
          ['sent', 'lead.read', '204'],
        ],
      );
    }));

  both('a webhook endpoint that hangs does not delay a stop, and is not reported as failed', async () => {
    const database = await freshDatabase(engine);
    const { db } = database;
    await withWebhook({ engine, database }, async (server, receiver) => {
      receiver.respondWith(() => {});
      await becomeLead(server);
      await until(() => receiver.received.length === 1);
      await server.service.close();
      const row = await db
        .selectFrom('webhook_events')
        .selectAll()
        .orderBy('position')
        .executeTakeFirstOrThrow();
      const released = { state: 'queued', lease_id: null, reply: 'stopped', due_at: server.now() } as const;
      assert.partialDeepStrictEqual(row, released);
      assert.deepEqual(server.webhookOutcomes, []);
    });
  });
});
