import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { consentVersion } from '#server/campaign/campaign.ts';
import { countLeads } from '#server/db/queries/report-figures.ts';
import { keepConsentWording } from '#server/db/tables/consent-wordings.ts';
import { unsubscribeUrl } from '#server/secrets/mail-links.ts';
import { API, CONSENT_VERSION_HEADER, type OpenChallenge } from '#shared/api.ts';
import { exportProof, verifyReport, receiptsOf } from '#testing/consents.ts';
import { desk, importFile } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { adding } from '#testing/campaign-copy.ts';
import { createVisitor, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { ask as askWith, EMAIL, enterNewest, refusalOf } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { valuesOf } from '#testing/values-of.ts';

const NEWS = 'Also send me news, as the policy (https://example.com/privacy) says.';
const VERSION = consentVersion(NEWS);
const TICKED = { newsConsentVersion: VERSION };
const EARLIER = { text: 'Send me news.', version: consentVersion('Send me news.'), purpose: 'news' } as const;
const GIVEN_AT = '2026-11-20T12:00:00.000Z';

const WITH_NEWS = {
  campaign: {
    'consent.yaml': adding(
      'newsConsent: Also send me news, as the [policy](https://example.com/privacy) says.\n',
    ),
  },
};

const ask = (server: ServerUnderTest, form: object, visitor = createVisitor(server)) =>
  askWith(visitor, { ...form }, { [CONSENT_VERSION_HEADER]: server.campaign.consent.version });

/** @param mail number of the code's mail to this address, from 1 */
async function signUp(
  server: ServerUnderTest,
  mail: number,
  form: Record<string, unknown>,
  email = EMAIL,
): Promise<void> {
  const headers = { [CONSENT_VERSION_HEADER]: server.campaign.consent.version };
  await becomeLead(server, email, mail, { form, headers, beforeCode: () => server.advance(20) });
  await server.advance(600);
}

async function leadOf({ service }: ServerUnderTest, state = 'verified') {
  const { out } = await desk(service, ['leads', '--state', state, '--json']);
  return (JSON.parse(out) as readonly { readonly id: string; readonly news_consent?: object }[])[0]!;
}

onEachEngine('consent to news', WITH_NEWS, ({ test, both, engine }) => {
  both('each ticked box for news has its own receipt, and unticked boxes have none', async (server) => {
    const from = server.now();
    await signUp(server, 1, TICKED);
    const guide = {
      purpose: 'guide',
      text: server.campaign.consent.text,
      given_at: from,
      same_browser: 1,
    };
    const facts = (await receiptsOf(server)).map(({ purpose, text, given_at, same_browser }) => ({
      purpose,
      text,
      given_at,
      same_browser,
    }));
    assert.deepEqual(facts, [guide, { ...guide, purpose: 'news', text: NEWS }]);
    assert.equal(await countLeads(server.database.db, { from, to: server.now() }), 1);

    await signUp(server, 2, {});
    const consent = { given_at: GIVEN_AT, version: VERSION, text: NEWS };
    assert.deepEqual((await leadOf(server)).news_consent, consent, 'not withdrawn by a later form');
    await ask(server, TICKED);
    await enterNewest(server, createVisitor(server, '203.0.113.8'), 3);
    const rows = await receiptsOf(server);
    assert.deepEqual(
      rows.map((receipt) => `${receipt.purpose} ${receipt.same_browser}`),
      ['guide 1', 'news 1', 'guide 1', 'guide 0', 'news 0'],
    );
    const { exitCode, entries, errors } = await verifyReport(server);
    assert.deepEqual([exitCode, entries, errors], [0, 5, []]);
  });

  test('a code records the form that it was mailed for, even in a browser that had verified another', async (server) => {
    const [here, elsewhere] = [createVisitor(server), createVisitor(server, '203.0.113.8')];
    for (const [mail, form, visitor] of [[1, {}, here] as const, [2, TICKED, elsewhere] as const]) {
      assert.equal((await ask(server, form, visitor)).statusCode, 202);
      await enterNewest(server, here, mail);
      await server.advance(70);
    }
    assert.deepEqual(valuesOf(await receiptsOf(server), 'purpose'), ['guide', 'guide', 'news']);
  });

  both('an earlier wording of the box for news is accepted, but no unknown one', async (server) => {
    const guide = server.campaign.consent.version;
    for (const newsConsentVersion of ['0123456789ab', '', guide, 'not-stated', VERSION.toUpperCase()]) {
      const refused = await ask(server, { newsConsentVersion });
      assert.deepEqual(refusalOf(refused), [409, 'page-outdated', 'newsConsentVersion'], newsConsentVersion);
    }
    assert.equal((await ask(server, { newsConsentVersion: true })).statusCode, 400);
    const swapped = { [CONSENT_VERSION_HEADER]: VERSION };
    await keepConsentWording(server.database.db, { ...EARLIER, now: 0 });
    assert.equal((await askWith(createVisitor(server), {}, swapped)).statusCode, 409);
    assert.equal(await server.countRows('submissions'), 0);

    const visitor = createVisitor(server);
    await ask(server, { newsConsentVersion: EARLIER.version }, visitor);
    await server.inbox.waitForMail(EMAIL);
    await server.advance(60);
    const { newsConsentVersion } = (await visitor.get(API.challenge)).json<OpenChallenge>();
    assert.equal(newsConsentVersion, EARLIER.version);
    await ask(server, { newsConsentVersion }, visitor);
    await enterNewest(server, visitor, 2);
    const [, news] = await receiptsOf(server);
    assert.deepEqual([news?.text, news?.given_at], [EARLIER.text, Date.parse(GIVEN_AT)]);
  });

  both('an unsubscription ends the consent to news, unless noted by mistake', async (server) => {
    const hasNews = async (state?: string) => 'news_consent' in (await leadOf(server, state));
    await signUp(server, 1, TICKED);
    await desk(server.service, ['suppress', 'add', EMAIL, '--reason', 'unsubscribed']);
    assert.equal(await hasNews('suppressed'), false);
    await server.advance(60);
    await desk(server.service, ['suppress', 'remove', EMAIL, '--reason', 'Another Ada', '--yes']);
    assert.equal(await hasNews(), true);

    const { id } = await leadOf(server);
    await server.app.inject({ method: 'POST', url: unsubscribeUrl(server.service.secrets, '', id) });
    await server.advance(60);
    await signUp(server, 2, {});
    assert.equal(await hasNews(), false, 'the later form had no tick');
    await signUp(server, 3, TICKED);
    assert.equal(await hasNews(), true);
    assert.deepEqual((await verifyReport(server)).errors, []);
  });

  test('the person’s timeline, data and proofs show both consents', (server) =>
    inFolder(async (folder) => {
      await signUp(server, 1, TICKED);
      const { out } = await desk(server.service, ['show', EMAIL]);
      assert.match(out, new RegExp(`wording of the consent to news: ${VERSION}\n`));
      assert.match(
        out,
        new RegExp(`agreed to get news\n +consent wording: ${VERSION}\n +given at: 2026-11-20 12:00:00`),
      );
      const file = path.join(folder, 'ada');
      await desk(server.service, ['person', EMAIL, '--out', file]);
      assert.match(readFileSync(`${file}.json`, 'utf8'), /"purpose": "news"/);
      const { page } = await exportProof(server, EMAIL);
      assert.match(page, /Agreed to get news on .*\n<blockquote>Also send me/);
    }));

  both('exports have columns for the consent to news, which an import ignores', async (server) => {
    await signUp(server, 1, TICKED);
    await signUp(server, 1, {}, 'eve@example.com');
    const exported = async (format: string, ...more: readonly string[]) =>
      (await desk(server.service, ['export', '--format', format, ...more])).out;
    const csv = await exported('csv');
    assert.match(csv, new RegExp(`^ada@.*,yes,${GIVEN_AT},${VERSION},"Also send me news, as the`, 'm'));
    assert.match(csv, /^eve@.*,no,,,\r$/m);
    assert.match(await exported('brevo'), new RegExp(`^ada@.*,${GIVEN_AT},"Also send me news, as`, 'm'));
    assert.match(await exported('jsonl', '--news'), /^\{[^\n]*"email":"ada@[^\n]*\n$/);
    for (const format of ['csv', 'hubspot'])
      await withServer({ engine }, async (other) => {
        other.setClock(server.now());
        const { notes } = await importFile(other, await exported(format));
        assert.match(notes, /^2 people imported/m);
        assert.doesNotMatch(notes, /Columns used:.*news/i);
      });
  });
});
