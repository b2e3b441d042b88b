import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { codeIn, smtpError } from '#testing/inbox.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { erasePerson } from '#testing/erase-person.ts';

const TYPED = 'Ada@Example.com';
const EMAIL = 'ada@example.com';

const suppressions = (server: ServerUnderTest) =>
  server.database.db.selectFrom('suppressions').selectAll().execute();

for (const engine of ENGINES) {
  describe(`dead e-mail addresses on ${engine}`, () => {
    for (const command of ['RCPT', 'DATA'] as const)
      it(`an e-mail address refused at ${command} is suppressed until a requested code is entered`, async () => {
        let isDead = true;
        const answer = () => (isDead ? smtpError(550, `5.1.1 <${TYPED}>: User\n\u0000unknown`) : null);
        const inbox = command === 'RCPT' ? { onRecipient: answer } : { onMessage: answer };
        await withServer({ engine, inbox }, async (server) => {
          const visitor = createVisitor(server, '198.51.100.7');
          await visitor.post(API.leads, filledForm({ email: TYPED }));
          await until(() => server.mailEvents.length === 1);
          const [row, ...others] = await suppressions(server);
          assert.equal(others.length, 0);
          assert.deepEqual(
            [row?.reason, row?.email, row?.created_at],
            ['bounced', EMAIL, server.now()],
            'under the address as it is stored',
          );
          assert.match(row?.note ?? '', /550 5\.1\.1 <Ada@Example\.com>: User unknown/);
          assert.ok((row?.note ?? '').length <= 500);
          assert.doesNotMatch(server.logLines.join(''), /ada@example/i);

          isDead = false;
          await server.advance(61);
          await visitor.post(API.leads, filledForm({ email: TYPED }));
          const code = codeIn(await server.inbox.waitForMail(EMAIL));
          assert.equal((await suppressions(server)).length, 1);
          assert.equal((await visitor.post(API.verify, { email: EMAIL, code })).statusCode, 200);
          assert.deepEqual(await suppressions(server), []);
        });
      });

    it('an e-mail address is not suppressed for a full mailbox or a blocked sender', async () => {
      const answers = ['5.2.2 Full', '5.7.1 Blocked', '5.3.4 Too large', 'User unknown', '4.1.1 Not yet'];
      const replies = [...answers];
      const onRecipient = () => smtpError(550, replies.shift() ?? '5.7.1');
      await withServer({ engine, inbox: { onRecipient } }, async (server) => {
        for (const [at, answer] of answers.entries()) {
          await createVisitor(server, `198.51.100.${at + 1}`).post(
            API.leads,
            filledForm({ email: `ada${at}@example.com` }),
          );
          await until(() => server.mailEvents.length === at + 1);
          assert.equal(server.mailEvents.at(-1)?.type, 'refused', answer);
        }
        assert.deepEqual(await suppressions(server), []);
      });
    });

    it('an e-mail address erased while its mail is refused leaves no data', async () => {
      const { promise: erased, resolve: go } = Promise.withResolvers<void>();
      const onRecipient = async () => {
        await erased;
        return smtpError(550, '5.1.1 Unknown');
      };
      await withServer({ engine, inbox: { onRecipient } }, async (server) => {
        await createVisitor(server).post(API.leads, filledForm({ email: EMAIL }));
        await erasePerson(server, EMAIL);
        go();
        await until(() => server.mailEvents.length === 1);
        const rows = await suppressions(server);
        assert.deepEqual(
          rows.map(({ reason, email, note }) => [reason, email, note]),
          [['erased', null, null]],
        );
      });
    });
  });
}
