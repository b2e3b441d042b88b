// Tests domains with non-ASCII letters (RFC 5890).
import assert from 'node:assert/strict';

import { API } from '#shared/api.ts';
import { codeIn } from '#testing/inbox.ts';
import { createVisitor } from '#testing/server-under-test.ts';
import { erasePerson } from '#testing/erase-person.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { ask, enter, refusalOf } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const FREE = 'someone@GMail.com';
const DISPOSABLE = 'someone@mailinator.com';
const WORK = 'someone@analytical-engines.example';

onEachEngine('e-mail domain policy', ({ test }) => {
  test(
    'the e-mail domain policy "flag" marks the lead',
    { env: { FREE_MAIL: 'flag', DISPOSABLE_MAIL: 'flag' } },
    async (server) => {
      for (const email of [FREE, DISPOSABLE, WORK]) await becomeLead(server, email);
      const leads = await server.database.db.selectFrom('leads').select(['email', 'flags']).execute();
      assert.deepEqual(Object.fromEntries(leads.map(({ email, flags }) => [email, flags])), {
        [FREE.toLowerCase()]: 'free-mail',
        [DISPOSABLE]: 'disposable',
        [WORK]: '',
      });
    },
  );

  test(
    'the e-mail domain policy "block" gives the reason and stores nothing',
    { env: { FREE_MAIL: 'block', DISPOSABLE_MAIL: 'block' } },
    async (server) => {
      for (const email of [FREE, DISPOSABLE, 'someone@ｍａｉｌｉｎａｔｏｒ.com']) {
        const response = await ask(createVisitor(server), { email });
        assert.deepEqual(refusalOf(response), [400, 'email-domain-refused', 'email'], email);
        assert.match(response.body, /Please use your work email\.$/);
      }
      assert.equal(await server.countRows('submissions'), 0);
      assert.equal((await ask(createVisitor(server), { email: WORK })).statusCode, 202);
    },
  );
});

const TYPED = 'Info@MÜNCHEN.de';
const MAILED = 'Info@xn--mnchen-3ya.de';
const RECEIVED = 'info@münchen.de';
const NORMAL = 'info@xn--mnchen-3ya.de';

onEachEngine('international domains', ({ test }) => {
  test('an e-mail address at an international domain is shown as typed, mailed in ASCII and erased in any form', async (server) => {
    const visitor = createVisitor(server);
    const asked = await ask(visitor, { email: ` ${TYPED} ` });
    assert.equal(asked.statusCode, 202, asked.body);
    const mail = await server.inbox.waitForMail(RECEIVED);
    assert.deepEqual(server.inbox.recipientCommands, [`RCPT TO:<${MAILED}>`]);
    const head = mail.raw.slice(0, mail.raw.indexOf('\r\n\r\n'));
    assert.match(head, /^To: Info@xn--mnchen-3ya\.de\r$/m);
    // oxlint-disable-next-line no-control-regex -- that nothing else is in it
    assert.match(head, /^[\x00-\x7F]*$/);

    assert.equal((await visitor.get(API.challenge)).json<{ email: string }>().email, TYPED);
    const verified = await enter(visitor, codeIn(mail), 'info@xn--mnchen-3ya.DE');
    assert.equal(verified.statusCode, 200, verified.body);
    const { db } = server.database;
    const forms = await db.selectFrom('submissions').select(['email_typed', 'email']).execute();
    assert.deepEqual(forms, [{ email_typed: TYPED, email: NORMAL }]);
    assert.deepEqual(await db.selectFrom('leads').select('email').execute(), [{ email: NORMAL }]);
    assert.doesNotMatch(server.logLines.join('\n'), /nchen/i);

    await server.advance(0);
    const erased = await erasePerson(server, 'INFO@mu\u0308nchen.DE');
    assert.deepEqual([erased.submissions, erased.outbox, erased.leads], [1, 1, 1]);
  });
});
