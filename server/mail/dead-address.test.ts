import assert from 'node:assert/strict';

import { smtpError, whileInboxHangs } from '#testing/inbox.ts';
import { createVisitor, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { erasePerson } from '#testing/erase-person.ts';
import { ask, askUntilTried, EMAIL, enter, newestCode } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const TYPED = 'Ada@Example.com';

const suppressions = (server: ServerUnderTest) =>
  server.database.db.selectFrom('suppressions').selectAll().execute();

onEachEngine('dead e-mail addresses', ({ test }) => {
  for (const command of ['RCPT', 'DATA'] as const)
    test(`an e-mail address refused at ${command} is suppressed until a requested code is entered`, async (server) => {
      const refuse = () => smtpError(550, `5.1.1 <${TYPED}>: User\n\u0000unknown`);
      server.inbox.behave(command === 'RCPT' ? { onRecipient: refuse } : { onMessage: refuse });
      const visitor = createVisitor(server, '198.51.100.7');
      await askUntilTried(server, visitor, { email: TYPED });
      const [row, ...others] = await suppressions(server);
      assert.deepEqual(others, []);
      // Under the address as it is stored.
      assert.partialDeepStrictEqual(row, { reason: 'bounced', email: EMAIL, created_at: server.now() });
      assert.match(row?.note ?? '', /550 5\.1\.1 <Ada@Example\.com>: User unknown/);
      assert.ok((row?.note ?? '').length <= 500);
      const log = server.logLines.join('');
      assert.match(log, /"type":"refused","errorClass":"5xx".*could not be delivered/);
      assert.doesNotMatch(log, /ada@example/i);

      server.inbox.behave({});
      await server.advance(61);
      await ask(visitor, { email: TYPED });
      const code = await newestCode(server);
      assert.equal((await suppressions(server)).length, 1);
      assert.equal((await enter(visitor, code)).statusCode, 200);
      assert.deepEqual(await suppressions(server), []);
    });

  test('an e-mail address is not suppressed for a full mailbox or a blocked sender', async (server) => {
    const replies = ['5.2.2 Full', '5.7.1 Blocked', '5.3.4 Too large', 'User unknown', '4.1.1 Not yet'];
    for (const [at, reply] of replies.entries()) {
      server.inbox.behave({ onRecipient: () => smtpError(550, reply) });
      await askUntilTried(server, createVisitor(server, `198.51.100.${at + 1}`), {
        email: `ada${at}@example.com`,
      });
      assert.equal(server.mailEvents.at(-1)?.type, 'refused', reply);
    }
    assert.deepEqual(await suppressions(server), []);
  });

  test('an e-mail address erased while its mail is refused leaves no data', async (server) => {
    const hang = (done: Promise<null>) => ({
      onRecipient: () => done.then(() => smtpError(550, '5.1.1 Unknown')),
    });
    await whileInboxHangs(server.inbox, hang, async () => {
      await ask(createVisitor(server));
      await erasePerson(server, EMAIL);
    });
    await until(() => server.mailEvents.length === 1);
    const rows = await suppressions(server);
    assert.deepEqual(
      rows.map(({ reason, email, note }) => [reason, email, note]),
      [['erased', null, null]],
    );
  });
});
