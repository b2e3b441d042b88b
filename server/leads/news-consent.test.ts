import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { parse } from 'csv-parse/sync';

import { consentVersion } from '#server/campaign/campaign.ts';
import { lookForPeople } from '#server/db/contacts/people.ts';
import { countNewLeads } from '#server/db/tables/leads.ts';
import { keepConsentWording } from '#server/db/tables/consent-wordings.ts';
import { unsubscribeUrl } from '#server/secrets/mail-links.ts';
import { API, CONSENT_VERSION_HEADER, type OpenChallenge } from '#shared/api.ts';
import { verifyReport } from '#testing/consents.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { desk } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { codeIn } from '#testing/inbox.ts';
import { campaignAsking } from '#testing/own-form.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

const EMAIL = 'ada@example.com';
const NEWS = 'Also send me news, as the policy (https://example.com/privacy) says.';
const VERSION = consentVersion(NEWS);
const EARLIER = 'Also send me news. (As it read in spring.)';

type Form = Readonly<Record<string, unknown>>;

function withNews(
  engine: Engine,
  work: (server: ServerUnderTest, folder: string) => Promise<void>,
  more = '',
): Promise<void> {
  return inFolder((folder) => {
    const campaign = campaignAsking(folder, '');
    const entry = 'newsConsent: Also send me news, as the [policy](https://example.com/privacy) says.\n';
    appendFileSync(path.join(campaign, 'consent.yaml'), `${entry}${more}`);
    return withServer({ engine, env: { CAMPAIGN_FOLDER: campaign } }, (server) => work(server, folder));
  });
}

const ask = (server: ServerUnderTest, form: Form, visitor = createVisitor(server, '203.0.113.7')) =>
  visitor.post(API.leads, filledForm(form), {
    headers: { [CONSENT_VERSION_HEADER]: server.campaign.consent.version, 'user-agent': 'Browser/7' },
  });

/** @param mail number of the code's mail to this address, from 1 */
async function signUp(server: ServerUnderTest, mail: number, form: Form, isElsewhere = false): Promise<void> {
  const visitor = createVisitor(server, '203.0.113.7');
  assert.equal((await ask(server, form, visitor)).statusCode, 202);
  const code = codeIn(await server.inbox.waitForMail(EMAIL, mail));
  await server.advance(20);
  const browser = isElsewhere ? createVisitor(server, '203.0.113.8') : visitor;
  assert.equal((await browser.post(API.verify, { email: EMAIL, code })).statusCode, 200);
  await server.advance(600);
}

const receipts = ({ database }: ServerUnderTest) =>
  database.db
    .selectFrom('consent_receipts as r')
    .innerJoin('consent_wordings as w', 'w.version', 'r.consent_version')
    .select(['r.purpose', 'w.text', 'r.given_at', 'r.verified_at', 'r.same_browser', 'r.user_agent'])
    .orderBy('r.id')
    .execute();

async function leadOf({ service }: ServerUnderTest, state = 'verified') {
  const { out } = await desk(service, ['leads', '--state', state, '--json']);
  return (JSON.parse(out) as readonly { readonly id: string; readonly news_consent?: object }[])[0]!;
}

for (const engine of ENGINES)
  describe(`consent to news on ${engine}`, () => {
    it('a ticked box for news has its own receipt, and an unticked one has none', () =>
      withNews(engine, async (server) => {
        const givenAt = server.now();
        await signUp(server, 1, { newsConsentVersion: VERSION });
        const guide = {
          purpose: 'guide',
          text: server.campaign.consent.text,
          given_at: givenAt,
          verified_at: givenAt + 20_000,
          same_browser: 1,
          user_agent: 'Browser/7',
        } as const;
        const both = [guide, { ...guide, purpose: 'news', text: NEWS }];
        assert.deepEqual(await receipts(server), both);
        const span = { from: givenAt, to: server.now() };
        assert.equal(await countNewLeads(server.database.db, span), 1);

        await signUp(server, 2, {});
        assert.deepEqual(
          (await receipts(server)).slice(2).map(({ purpose }) => purpose),
          ['guide'],
        );
        const consent = { given_at: new Date(givenAt).toISOString(), version: VERSION, text: NEWS };
        assert.deepEqual((await leadOf(server)).news_consent, consent, 'not withdrawn by a later form');
        const { exitCode, entries, errors } = await verifyReport(server);
        assert.deepEqual([exitCode, entries, errors], [0, 3, []]);
      }));

    it('a code entered in another browser adds receipts that say so', () =>
      withNews(engine, async (server) => {
        await signUp(server, 1, { newsConsentVersion: VERSION }, true);
        assert.deepEqual(
          (await receipts(server)).map(({ purpose, same_browser: same }) => [purpose, same]),
          [
            ['guide', 0],
            ['news', 0],
          ],
        );
      }));

    it('unknown wordings of the box for news are refused, earlier ones accepted, and a resend repeats its own', () =>
      withNews(engine, async (server) => {
        const { db } = server.database;
        const guide = server.campaign.consent.version;
        for (const stated of ['0123456789ab', '', guide, 'not-stated', VERSION.toUpperCase()]) {
          const refused = await ask(server, { newsConsentVersion: stated });
          assert.deepEqual(
            [refused.statusCode, refused.headers['x-error-code'], refused.headers['x-error-field']],
            [409, 'page-outdated', 'newsConsentVersion'],
            stated,
          );
        }
        assert.equal((await ask(server, { newsConsentVersion: true })).statusCode, 400);
        assert.equal(await server.countRows('submissions'), 0);

        const version = consentVersion(EARLIER);
        await keepConsentWording(db, { version, text: EARLIER, purpose: 'news', now: 0 });
        const asGuide = { headers: { [CONSENT_VERSION_HEADER]: version } };
        const swapped = await createVisitor(server).post(API.leads, filledForm(), asGuide);
        assert.equal(swapped.statusCode, 409, 'wording of the other box');

        const givenAt = server.now();
        const visitor = createVisitor(server, '203.0.113.7');
        const { challengeId } = (await ask(server, { newsConsentVersion: version }, visitor)).json<{
          challengeId: string;
        }>();
        await server.inbox.waitForMail(EMAIL);
        await server.advance(60);
        const open = (await visitor.get(`${API.challenge}?id=${challengeId}`)).json<OpenChallenge>();
        assert.equal(open.newsConsentVersion, version);
        await ask(server, { newsConsentVersion: version }, visitor);
        const code = codeIn(await server.inbox.waitForMail(EMAIL, 2));
        await visitor.post(API.verify, { email: EMAIL, code });
        const [, news] = await receipts(server);
        assert.deepEqual([news?.text, news?.given_at], [EARLIER, givenAt]);
      }));

    it('a withdrawn wording of the box for news is refused', () =>
      withNews(
        engine,
        async (server) => {
          const version = consentVersion(EARLIER);
          const { db } = server.database;
          await keepConsentWording(db, { version, text: EARLIER, purpose: 'news', now: 0 });
          assert.equal((await ask(server, { newsConsentVersion: version })).statusCode, 409);
          assert.equal((await ask(server, { newsConsentVersion: VERSION })).statusCode, 202);
        },
        'refuseEarlier: true\n',
      ));

    it('an unsubscription ends the consent to news, unless the operator noted it by mistake', () =>
      withNews(engine, async (server) => {
        const hasNews = async () => (await leadOf(server)).news_consent !== undefined;
        await signUp(server, 1, { newsConsentVersion: VERSION });
        await desk(server.service, ['suppress', 'add', EMAIL, '--reason', 'unsubscribed']);
        assert.equal((await leadOf(server, 'suppressed')).news_consent, undefined);
        await server.advance(60);
        const undone = await desk(server.service, [
          'suppress',
          'remove',
          EMAIL,
          '--reason',
          'Another Ada',
          '--yes',
        ]);
        assert.equal(undone.exitCode, 0, undone.notes);
        assert.equal(await hasNews(), true);

        const { id } = await leadOf(server);
        await server.app.inject({ method: 'POST', url: unsubscribeUrl(server.service.secrets, '', id) });
        await server.advance(60);
        await signUp(server, 2, {});
        assert.equal(await hasNews(), false, 'the later form had no tick');
        await signUp(server, 3, { newsConsentVersion: VERSION });
        assert.equal(await hasNews(), true);
        assert.deepEqual((await verifyReport(server)).errors, []);
      }));

    it('the person’s timeline, data and proofs show both consents, and an erasure removes them', () =>
      withNews(engine, async (server, folder) => {
        await signUp(server, 1, { newsConsentVersion: VERSION });
        const { out } = await desk(server.service, ['show', EMAIL]);
        assert.match(out, /wording of the consent to news: [0-9a-f]{12}\n/);
        assert.match(
          out,
          new RegExp(
            `agreed to get news\\n    consent wording: ${VERSION}\\n    given at: 2026-11-20T12:00:00`,
          ),
        );
        const proof = path.join(folder, 'proof');
        assert.equal((await desk(server.service, ['consent', 'export', EMAIL, '--out', proof])).exitCode, 0);
        assert.match(
          readFileSync(`${proof}.html`, 'utf8'),
          /Agreed to get news on .*\n<blockquote>Also send me news/,
        );
        const data = path.join(folder, 'ada');
        await desk(server.service, ['person', EMAIL, '--out', data]);
        assert.match(readFileSync(`${data}.json`, 'utf8'), /"purpose": "news"/);
        const erased = await desk(server.service, ['erase', EMAIL, '--yes']);
        assert.match(erased.out, /2 consents, 2 proofs of consent/);
        assert.equal(await server.countRows('consent_receipts'), 0);
        assert.deepEqual((await verifyReport(server)).errors, []);
      }));

    it('exports and the filter contain the consent to news, and an import reads the exports', () =>
      withNews(engine, async (server, folder) => {
        await signUp(server, 1, { newsConsentVersion: VERSION });
        const visitor = createVisitor(server);
        await ask(server, { email: 'eve@example.com' }, visitor);
        const code = codeIn(await server.inbox.waitForMail('eve@example.com'));
        await visitor.post(API.verify, { email: 'eve@example.com', code });
        const exported = async (...args: readonly string[]) =>
          (await desk(server.service, ['export', ...args])).out;
        const rowsOf = (csv: string) => parse<Record<string, string>>(csv, { columns: true });
        const given = '2026-11-20T12:00:00.000Z';
        const news = (row: Record<string, string> = {}) =>
          Object.entries(row).flatMap(([name, value]) => (name.startsWith('news_') ? [value] : []));
        assert.deepEqual(rowsOf(await exported()).map(news), [
          ['yes', given, VERSION, NEWS],
          ['no', '', '', ''],
        ]);
        assert.deepEqual(
          rowsOf(await exported('--format', 'brevo')).map((row) => [
            row['NEWS_CONSENT_GIVEN_AT'],
            row['NEWS_CONSENT_TEXT'],
          ]),
          [
            [given, NEWS],
            ['', ''],
          ],
        );
        const filtered = await exported('--news', '--format', 'jsonl');
        assert.deepEqual([filtered.split('\n').length, /"email":"ada@/.test(filtered)], [2, true]);
        const found = await lookForPeople(
          server.database.db,
          'verified',
          { news: true },
          { from: null, most: 9, forMs: 1_000 },
        );
        assert.deepEqual(
          found.people.map(({ email }) => email),
          [EMAIL],
        );

        for (const [name, format] of [
          ['leads.csv', 'csv'],
          ['leads.jsonl', 'jsonl'],
          ['hubspot.csv', 'hubspot'],
        ] as const) {
          const file = path.join(folder, name);
          writeFileSync(file, await exported('--format', format));
          await withServer({ engine }, async (other) => {
            other.setClock(server.now());
            const done = await desk(other.service, ['import', file, '--consent-source', 'Our page']);
            assert.equal(done.exitCode, 0, done.notes);
            const people = await other.database.db
              .selectFrom('imported_leads')
              .select(['email', 'consent_given_at'])
              .orderBy('email')
              .execute();
            assert.deepEqual(
              people.map(({ email, consent_given_at: at }) => [email, at !== null]),
              [
                [EMAIL, true],
                ['eve@example.com', true],
              ],
            );
          });
        }
      }));

    it('without a box for news, exports have no columns for it', () =>
      withServer({ engine }, async (server) => {
        await signUp(server, 1, {});
        for (const format of ['csv', 'jsonl', 'hubspot'] as const)
          assert.doesNotMatch((await desk(server.service, ['export', '--format', format])).out, /news/i);
      }));
  });
