import assert from 'node:assert/strict';
import { it } from 'node:test';

import { desk, succeeded } from '#testing/desk.ts';
import { ask, askUntilTried } from '#testing/lead-calls.ts';
import { deliveryStatus } from '#testing/returned-mail.ts';
import { createVisitor, type ServerUnderTest } from '#testing/server-under-test.ts';
import { becomeLead, EMAIL, outcomes, typesOf, withWebhook } from '#testing/webhook-leads.ts';
import { smtpError } from '#testing/inbox.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const STRANGER = 'never@example.com';

async function reportDelivery(server: ServerUnderTest, report: Parameters<typeof deliveryStatus>[0]) {
  async function* message() {
    yield Buffer.from(deliveryStatus(report));
  }
  await succeeded(desk(server.service, ['bounce'], { input: message }));
}

onEachEngine('bounced leads', ({ engine }) => {
  it("a webhook event is sent if a lead's mail is refused, but not for a stranger's", () =>
    withWebhook({ engine }, async (server, receiver) => {
      const leadId = await becomeLead(server);
      await server.advance(61);
      server.inbox.behave({ onRecipient: () => smtpError(550, '5.1.1 Unknown') });
      await askUntilTried(server, createVisitor(server), { email: STRANGER });
      await askUntilTried(server, createVisitor(server));
      assert.equal(await server.countRows('suppressions'), 2);
      server.service.webhooks.wake();
      await outcomes(server, 3);
      const { event } = receiver.received[2]!;
      assert.deepEqual([event.type, event.data.lead.id], ['lead.bounced', leadId]);
      assert.ok('email' in event.data.lead);
      assert.deepEqual([event.data.lead.email, event.timestamp], [EMAIL, isoNow(server)]);
      assert.equal(await server.countRows('webhook_events'), 3);
    }));

  it('all bounce reports about a lead cause one webhook event until the next verification', () =>
    withWebhook({ engine }, async (server, receiver) => {
      await becomeLead(server);
      await ask(createVisitor(server), { email: STRANGER });
      const stranger = (await server.inbox.waitForMail(STRANGER)).parsed;
      await reportDelivery(server, { messageId: stranger.messageId ?? '', recipient: STRANGER });
      assert.equal(await server.countRows('suppressions'), 1);
      const bounce = async () => {
        const mail = server.inbox.mailsTo(EMAIL).at(-1)?.parsed;
        await reportDelivery(server, { messageId: mail?.messageId ?? '' });
      };
      await bounce();
      await bounce();
      server.service.webhooks.wake();
      await outcomes(server, 3);
      await server.advance(61);
      await becomeLead(server);
      await server.advance(61);
      await desk(server.service, ['suppress', 'add', EMAIL, '--reason', 'bounced']);
      await desk(server.service, ['suppress', 'add', STRANGER, '--reason', 'bounced']);
      server.service.webhooks.wake();
      await outcomes(server, 5);
      assert.deepEqual(typesOf(receiver.received), [
        'lead.verified',
        'lead.read',
        'lead.bounced',
        'lead.updated',
        'lead.bounced',
      ]);
      assert.equal(await server.countRows('webhook_events'), 5);
    }));
});

const isoNow = (server: ServerUnderTest): string => new Date(server.now()).toISOString();
