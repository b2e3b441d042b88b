import assert from 'node:assert/strict';

import { consentVersion } from '#server/campaign/campaign.ts';
import { keepConsentWording } from '#server/db/tables/consent-wordings.ts';
import { CONSENT_VERSION_HEADER, type OpenChallenge } from '#shared/api.ts';
import { ask as askWith, EMAIL, enterNewest, refusalOf } from '#testing/lead-calls.ts';
import { adding } from '#testing/campaign-copy.ts';
import { createVisitor, filledForm, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { receiptsOf } from '#testing/consents.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { valuesOf } from '#testing/values-of.ts';

const EARLIER = 'I agree to receive emails. (As it read in spring.)';

const ask = (visitor: Visitor, version: string | null, changes: Record<string, unknown> = {}) =>
  askWith(visitor, changes, version === null ? {} : { [CONSENT_VERSION_HEADER]: version });

async function knowEarlierWording({ database, now }: ServerUnderTest): Promise<string> {
  const version = consentVersion(EARLIER);
  await keepConsentWording(database.db, { version, text: EARLIER, purpose: 'guide', now: now() - 1000 });
  return version;
}

onEachEngine('consent receipts', ({ test }) => {
  test('a consent receipt contains the wording that the page showed, current or earlier', async (server) => {
    const today = createVisitor(server);
    assert.equal((await ask(today, server.campaign.consent.version)).statusCode, 202);
    await enterNewest(server, today);
    await server.advance(600);
    const earlier = await knowEarlierWording(server);
    const oldTab = createVisitor(server);
    assert.equal((await ask(oldTab, earlier)).statusCode, 202);
    await enterNewest(server, oldTab, 2);
    assert.deepEqual(valuesOf(await receiptsOf(server), 'text'), [server.campaign.consent.text, EARLIER]);
  });

  test('a form with an unknown consent wording is not stored, and the page is asked to reload', async (server) => {
    const visitor = createVisitor(server);
    const { version } = server.campaign.consent;
    const unknown = [
      '0123456789ab',
      'not-stated',
      '',
      version.toUpperCase(),
      `${version}, ${version}`,
      "' or 1=1 --",
      'x'.repeat(5000),
    ].filter((stated) => stated !== version);
    for (const stated of unknown) {
      const response = await ask(visitor, stated);
      assert.deepEqual(refusalOf(response), [409, 'page-outdated', 'consent'], stated);
      assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
      assert.match(response.body, /reload this page/);
      assert.equal(response.cookies.length, 0);
    }
    for (const table of ['submissions', 'codes', 'outbox', 'limit_windows'] as const)
      assert.equal(await server.countRows(table), 0, table);
    assert.equal(server.inbox.mails.length, 0);
  });

  for (const [file, change] of [
    ['consent.yaml', adding('refuseEarlier: true\n')],
    ['variants/b/consent.yaml', 'refuseEarlier: true\n'],
  ] as const)
    test(
      `a wording withdrawn in ${file} is refused, but a visitor who agreed before gets another code`,
      { campaign: { [file]: change } },
      async (server) => {
        const earlier = await knowEarlierWording(server);
        const visitor = createVisitor(server);
        const refused = await ask(visitor, earlier);
        assert.deepEqual(refusalOf(refused), [409, 'page-outdated', 'consent']);
        assert.equal(await server.countRows('submissions'), 0);

        const { version } = server.campaign.consent;
        assert.equal((await ask(visitor, version)).statusCode, 202);
        await server.database.db.updateTable('submissions').set({ consent_version: earlier }).execute();
        await server.advance(60);
        assert.equal((await ask(visitor, earlier, { company: 'Another' })).statusCode, 409);
        assert.equal((await ask(createVisitor(server), earlier)).statusCode, 409);
        assert.equal((await ask(visitor, earlier)).statusCode, 202);
        await enterNewest(server, visitor, 2);
        assert.deepEqual(valuesOf(await receiptsOf(server), 'text'), [EARLIER]);
      },
    );

  test('a consent receipt records that no wording was stated', async (server) => {
    const program = createVisitor(server);
    assert.equal((await ask(program, null)).statusCode, 202);
    await enterNewest(server, program);
    const [receipt] = await receiptsOf(server);
    assert.match(receipt?.text ?? '', /^The wording was not stated/);
  });

  test('a consent receipt has the time and IP address of the consent, not of a later resend', async (server) => {
    const earlier = await knowEarlierWording(server);
    const agreedAt = server.now();
    const visitor = createVisitor(server, '203.0.113.7');
    const { challengeId } = (await ask(visitor, earlier)).json<{ challengeId: string }>();
    await server.inbox.waitForMail(EMAIL);
    await server.advance(60);
    const open = (await visitor.get(`/api/challenge?id=${challengeId}`)).json<OpenChallenge>();
    assert.equal(open.consentVersion, earlier);
    await visitor.post('/api/leads', filledForm(), {
      headers: { [CONSENT_VERSION_HEADER]: open.consentVersion, 'user-agent': 'Resend/1' },
      remoteAddress: '198.51.100.9',
    });
    await enterNewest(server, visitor, 2);
    const [receipt] = await receiptsOf(server);
    assert.equal(receipt?.text, EARLIER);
    assert.equal(receipt?.given_at, agreedAt);
    assert.equal(receipt?.form_given_at, agreedAt);
    assert.equal(receipt?.client_address, '203.0.113.7');
    assert.notEqual(receipt?.user_agent, 'Resend/1');
  });

  test('a consent receipt refers to the corrected form, or to the form with newly accepted wording', async (server) => {
    const earlier = await knowEarlierWording(server);
    const { version, text } = server.campaign.consent;
    const visitor = createVisitor(server);
    await ask(visitor, earlier, { name: 'Ada Lovelase' });
    await server.advance(10);
    await ask(visitor, earlier);
    await server.advance(10);
    const agreedAt = server.now();
    await ask(visitor, version);
    await server.advance(10);
    await ask(visitor, version);
    await enterNewest(server, visitor);
    const [receipt] = await receiptsOf(server);
    assert.partialDeepStrictEqual(receipt, { text, given_at: agreedAt, name: 'Ada Lovelace' });
  });

  test('a consent receipt records whether the code was entered in the browser of the form', async (server) => {
    const { version } = server.campaign.consent;
    const visitor = createVisitor(server, '203.0.113.1');
    await ask(visitor, version);
    await enterNewest(server, visitor);
    await server.advance(600);
    // The code requested on the office computer is entered on a phone that never showed the form.
    await ask(createVisitor(server, '203.0.113.2'), version, { name: 'A Stranger' });
    await enterNewest(server, createVisitor(server, '203.0.113.3'), 2);
    await server.advance(600);
    await ask(createVisitor(server, '203.0.113.4'), version);
    await server.advance(5);
    const again = createVisitor(server, '203.0.113.4');
    const agreedAt = server.now();
    await ask(again, version, { name: 'Ada King' });
    await enterNewest(server, again, 3);
    const [own, foreign, riding] = await receiptsOf(server);
    assert.equal(own?.same_browser, 1);
    assert.partialDeepStrictEqual(foreign, {
      same_browser: 0,
      name: 'A Stranger',
      client_address: '203.0.113.2',
      verified_from_address: '203.0.113.3',
    });
    assert.partialDeepStrictEqual(riding, { same_browser: 1, given_at: agreedAt, name: 'Ada King' });
  });
});
