// Each mail has its own return path when the operator has set a domain for them.
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { readBounceAddress } from '#server/secrets/bounce-address.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';

const EMAIL = 'ada@example.com';

it('is the address of MAIL_FROM as long as no domain is set', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    await createVisitor(server).post(API.leads, filledForm({ email: EMAIL }));
    assert.equal((await server.inbox.waitForMail(EMAIL)).from, 'guide@example.com');
  }));

it('names each mail in the envelope, signed, within a local part, and leaves the visible sender alone', () =>
  withServer(
    { engine: 'sqlite', env: { BOUNCE_DOMAIN: 'bounces.example.com', GUIDE_EMAIL: 'link' } },
    async (server) => {
      await becomeLead(server, EMAIL);
      await server.inbox.waitForMail(EMAIL, 2);
      const mails = server.inbox.mailsTo(EMAIL);
      const rows = await server.database.db.selectFrom('outbox').select('id').execute();
      const named = mails.map(({ from, parsed, raw }) => {
        const [local = '', domain] = from.split('@');
        assert.equal(domain, 'bounces.example.com');
        assert.ok(local.length <= 64, local);
        assert.equal(local, local.toLowerCase());
        assert.equal(parsed.from?.address, 'guide@example.com');
        assert.doesNotMatch(raw, /bounces\.example\.com/);
        return readBounceAddress(server.service.secrets, from);
      });
      assert.deepEqual(named.toSorted(), rows.map(({ id }) => id).toSorted());
    },
  ));

it('does not change the recipient, whatever the address holds', () =>
  withServer({ engine: 'sqlite', env: { BOUNCE_DOMAIN: 'bounces.example.com' } }, async (server) => {
    await createVisitor(server).post(API.leads, filledForm({ email: "o'neil+guide@bücher.example" }));
    const mail = await server.inbox.waitForMail("o'neil+guide@bücher.example");
    assert.match(mail.from, /^b-/);
    assert.match(server.inbox.recipientCommands.join(), /<o'neil\+guide@xn--bcher-kva\.example>/);
  }));
