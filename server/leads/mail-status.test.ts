import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { API, type OpenChallenge } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import {
  createVisitor,
  filledForm,
  withServer,
  type ServerUnderTest,
  type Visitor,
} from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { createGate, smtpError } from '#testing/inbox.ts';

const mailStatusOf = async (visitor: Visitor) =>
  (await visitor.get(API.challenge)).json<OpenChallenge>().mail;

const events = (server: ServerUnderTest, count: number) => until(() => server.mailEvents.length === count);

for (const engine of ENGINES) {
  describe(`delivery status of a code on ${engine}`, () => {
    it('the delivery status of a code is "delayed" while a mail server defers it', async () => {
      let deferrals = 1;
      const onRecipient = () => (deferrals-- > 0 ? smtpError(451, 'Greylisted, come back later') : null);
      await withServer({ engine, inbox: { onRecipient } }, async (server) => {
        const visitor = createVisitor(server);
        await visitor.post(API.leads, filledForm());
        await events(server, 1);
        assert.equal(await mailStatusOf(visitor), 'delayed');
        await server.advance(2);
        server.wakeWorker();
        await events(server, 2);
        assert.equal(await mailStatusOf(visitor), 'sent');
      });
    });

    it('the delivery status of a code is "delayed" after an unusually long wait', async () => {
      const gate = createGate();
      const inHand = Promise.withResolvers<void>();
      const onRecipient = async () => {
        inHand.resolve();
        return gate.opened;
      };
      await withServer({ engine, inbox: { onRecipient } }, async (server) => {
        const visitor = createVisitor(server);
        await visitor.post(API.leads, filledForm());
        await inHand.promise;
        assert.equal(await mailStatusOf(visitor), 'waiting');
        server.setClock(server.now() + 20_000);
        assert.equal(await mailStatusOf(visitor), 'delayed');
        gate.open();
        await events(server, 1);
        assert.equal(await mailStatusOf(visitor), 'sent');
      });
    });

    it('the delivery status of a code is "refused" until another code is requested', async () => {
      let refusals = 1;
      const onRecipient = () => (refusals-- > 0 ? smtpError(550, 'No such user here') : null);
      await withServer({ engine, inbox: { onRecipient } }, async (server) => {
        const visitor = createVisitor(server);
        await visitor.post(API.leads, filledForm());
        await events(server, 1);
        const open = await visitor.get(API.challenge);
        assert.equal(open.json<OpenChallenge>().mail, 'refused');
        assert.doesNotMatch(open.body, /No such user/, 'the server’s own words are the operator’s');
        await server.advance(60);
        await visitor.post(API.leads, filledForm());
        await events(server, 2);
        assert.equal(await mailStatusOf(visitor), 'sent');
      });
    });

    it('the delivery status of a code is shown only to browsers that asked for it', () =>
      withServer(
        { engine, inbox: { onRecipient: () => smtpError(550, 'No such user here') } },
        async (server) => {
          const visitor = createVisitor(server, '203.0.113.7');
          await visitor.post(API.leads, filledForm());
          await events(server, 1);
          const rider = createVisitor(server, '203.0.113.7');
          await rider.post(API.leads, filledForm());
          assert.equal(await mailStatusOf(rider), 'refused');
          assert.equal(server.mailEvents.length, 1);

          const stranger = createVisitor(server, '198.51.100.9');
          await stranger.post(API.leads, filledForm({ email: 'grace@example.com' }));
          assert.equal((await stranger.get(API.challenge)).json<OpenChallenge>().email, 'grace@example.com');
        },
      ));

    it('the delivery status of a code is the same for a lead and an unknown e-mail address', () =>
      withServer({ engine }, async (server) => {
        await becomeLead(server, 'ada@example.com');
        await server.advance(3600);

        const answers = await Promise.all(
          ['ada@example.com', 'grace@example.com'].map(async (email, index) => {
            const stranger = createVisitor(server, `198.51.100.${index + 1}`);
            await stranger.post(API.leads, filledForm({ email }));
            return stranger;
          }),
        );
        await events(server, 3);
        const [known, unknown] = await Promise.all(
          answers.map(async (stranger) => {
            const {
              email: _email,
              reference: _reference,
              ...rest
            } = (await stranger.get(API.challenge)).json<OpenChallenge>();
            return rest;
          }),
        );
        assert.deepEqual(known, unknown);
        assert.equal(known?.mail, 'sent');
      }));

    it('polling the delivery status of a code does not count against a limit', () =>
      withServer(
        { engine, env: { LEADS_PER_IP_PER_HOUR: '2', VERIFY_PER_IP_PER_HOUR: '2' } },
        async (server) => {
          const visitor = createVisitor(server);
          await visitor.post(API.leads, filledForm());
          await events(server, 1);
          const limitsBefore = await server.countRows('limit_windows');
          for (let asks = 0; asks < 20; asks += 1) assert.equal(await mailStatusOf(visitor), 'sent');
          assert.equal(await server.countRows('limit_windows'), limitsBefore);
          assert.equal((await visitor.post(API.leads, filledForm())).statusCode, 202);
        },
      ));
  });
}

describe('sender on the code screen', () => {
  it('the code screen shows the actual sender when MAIL_FROM is unset', () =>
    withServer(
      { engine: 'sqlite', env: { MAIL_FROM: '', PUBLIC_URL: 'http://guide.example.org' } },
      async (server) => {
        const visitor = createVisitor(server);
        const { sender } = (
          await visitor.post(API.leads, filledForm(), { headers: { host: 'guide.example.org' } })
        ).json<{ sender: string }>();
        assert.equal(sender, 'guide@guide.example.org');
        assert.equal((await server.inbox.waitForMail('ada@example.com')).parsed.from?.address, sender);
      },
    ));
});
