import assert from 'node:assert/strict';
import { it } from 'node:test';

import { API, type OpenChallenge } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { smtpError, whileInboxHangs } from '#testing/inbox.ts';
import { ask, askUntilTried, EMAIL } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, withServer, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const codeScreen = async (visitor: Visitor) => (await visitor.get(API.challenge)).json<OpenChallenge>();
const mailStatusOf = async (visitor: Visitor) => (await codeScreen(visitor)).mail;

const events = (server: ServerUnderTest, count: number) => until(() => server.mailEvents.length === count);

onEachEngine('delivery status of a code', ({ test }) => {
  test('the delivery status of a code is "delayed" while a mail server defers it', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(451, 'Greylisted, come back later') });
    const visitor = createVisitor(server);
    await askUntilTried(server, visitor);
    assert.equal(await mailStatusOf(visitor), 'delayed');
    server.inbox.behave({});
    await server.advance(2);
    server.wakeWorker();
    await events(server, 2);
    assert.equal(await mailStatusOf(visitor), 'sent');
  });

  test('the delivery status of a code is "delayed" after an unusually long wait', async (server) => {
    const visitor = createVisitor(server);
    await whileInboxHangs(
      server.inbox,
      (done) => ({ onRecipient: () => done }),
      async () => {
        await ask(visitor);
        assert.equal(await mailStatusOf(visitor), 'waiting');
        server.setClock(server.now() + 20_000);
        assert.equal(await mailStatusOf(visitor), 'delayed');
      },
    );
    await events(server, 1);
    assert.equal(await mailStatusOf(visitor), 'sent');
  });

  test('the delivery status of a code is "refused" in every browser until another code is requested', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(550, 'No such user here') });
    const visitor = createVisitor(server);
    await askUntilTried(server, visitor);
    const open = await visitor.get(API.challenge);
    assert.equal(open.json<OpenChallenge>().mail, 'refused');
    assert.doesNotMatch(open.body, /No such user/, 'the server’s own words are the operator’s');
    const rider = createVisitor(server);
    await ask(rider);
    assert.equal(await mailStatusOf(rider), 'refused');
    assert.equal(server.mailEvents.length, 1);
    server.inbox.behave({});
    await server.advance(60);
    await askUntilTried(server, visitor);
    assert.equal(await mailStatusOf(visitor), 'sent');
  });

  test('the delivery status of a code is the same for a lead and an unknown e-mail address', async (server) => {
    await becomeLead(server, EMAIL);
    await server.advance(3600);
    const strangers = [createVisitor(server, '198.51.100.1'), createVisitor(server, '198.51.100.2')] as const;
    await askUntilTried(server, strangers[0]);
    await askUntilTried(server, strangers[1], { email: 'grace@example.com' });
    const [known, unknown] = [await codeScreen(strangers[0]), await codeScreen(strangers[1])];
    const { email, reference } = known;
    assert.deepEqual({ ...unknown, email, reference }, known);
    assert.equal(known.mail, 'sent');
  });
});

it('the code screen shows the actual sender when MAIL_FROM is unset', () =>
  withServer(
    { engine: 'sqlite', env: { MAIL_FROM: '', PUBLIC_URL: 'http://guide.example.org' } },
    async (server) => {
      const visitor = createVisitor(server);
      const asked = await ask(visitor, {}, { host: 'guide.example.org' });
      const { sender } = asked.json<{ sender: string }>();
      assert.equal(sender, 'guide@guide.example.org');
      assert.equal((await server.inbox.waitForMail('ada@example.com')).parsed.from?.address, sender);
    },
  ));
