import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { CONSENT_VERSION_HEADER, type OpenChallenge } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { codeIn } from '#testing/inbox.ts';
import {
  createVisitor,
  filledForm,
  withServer,
  type ServerUnderTest,
  type Visitor,
} from '#testing/server-under-test.ts';

const EMAIL = 'ada@example.com';

/** A code that is certainly not the right one. */
const wrongFor = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

const ask = (visitor: Visitor, changes: Record<string, unknown> = {}) =>
  visitor.post('/api/leads', filledForm(changes));

const enter = (visitor: Visitor, code: string, email = EMAIL) => visitor.post('/api/verify', { email, code });

const newestCode = async (server: ServerUnderTest, count = 1, email = EMAIL) =>
  codeIn(await server.inbox.waitForMail(email, count));

for (const engine of ENGINES) {
  describe(`a lead on ${engine}`, () => {
    it('is asked for, mailed a code, verified and let into the article, with proof of consent', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server, '203.0.113.7');
        const locked = await visitor.get('/api/article');
        assert.equal(locked.statusCode, 401);
        assert.match(locked.body, /^Please verify your email address/);

        const requested = await visitor.post(
          '/api/leads',
          filledForm({ email: '  Ada@Example.COM ', name: ' Ada Lovelace ' }),
          {
            headers: {
              [CONSENT_VERSION_HEADER]: server.content.consent.version,
              referer: 'http://localhost/?utm_source=newsletter&utm_medium=email&other=1',
              'user-agent': 'Test/1',
            },
          },
        );
        assert.equal(requested.statusCode, 202, requested.body);
        const cookie = requested.cookies.find(({ name }) => name === 'challenge');
        assert.equal(cookie?.httpOnly, true);
        assert.equal(cookie?.sameSite, 'Lax');
        assert.equal(cookie?.maxAge, undefined);

        // A submission is not yet a lead.
        assert.equal(await server.countRows('submissions'), 1);
        assert.equal(await server.countRows('leads'), 0);

        const mail = await server.inbox.waitForMail(EMAIL);
        assert.ok(mail.parsed.text?.includes(requested.json<{ reference: string }>().reference));
        const verified = await enter(visitor, codeIn(mail), 'ADA@example.com');
        assert.equal(verified.statusCode, 200, verified.body);
        const session = verified.cookies.find(({ name }) => name === 'session');
        assert.equal(session?.httpOnly, true);
        assert.equal(session?.sameSite, 'Lax');
        assert.equal(session?.maxAge, undefined);
        assert.equal(visitor.cookies.has('challenge'), false, 'the challenge cookie has done its work');

        const article = await visitor.get('/api/article');
        assert.equal(article.statusCode, 200);
        assert.match(article.json<{ html: string }>().html, /Response rate = ICP accuracy \+ deliverability/);
        assert.equal(article.headers['cache-control'], 'private, no-store');

        const [lead] = await server.database.db.selectFrom('leads').selectAll().execute();
        assert.equal(lead?.email, EMAIL);
        assert.equal(lead?.name, 'Ada Lovelace');
        assert.deepEqual(JSON.parse(lead?.attribution ?? ''), {
          utm_source: 'newsletter',
          utm_medium: 'email',
        });
        const [receipt] = await server.database.db
          .selectFrom('consent_receipts')
          .innerJoin('consent_wordings', 'consent_wordings.version', 'consent_receipts.consent_version')
          .selectAll()
          .execute();
        assert.equal(receipt?.text, server.content.consent.text);
        assert.equal(receipt?.client_address, '203.0.113.7');
        assert.equal(receipt?.user_agent, 'Test/1');
        assert.ok(receipt && receipt.verified_at >= receipt.given_at);

        const log = server.logLines.join('');
        assert.doesNotMatch(log, /ada|lovelace|analytical|203\.0\.113/i, 'the log holds no personal data');
        assert.doesNotMatch(log, new RegExp(codeIn(mail)), 'the log holds no code');
      }));

    it('who comes back is the same lead with another receipt, and is answered no differently', () =>
      withServer({ engine }, async (server) => {
        const first = createVisitor(server, '203.0.113.1');
        const unknown = await ask(first);
        await enter(first, await newestCode(server));
        await server.advance(3600);

        const second = createVisitor(server, '203.0.113.2');
        const known = await ask(second, { name: 'Ada King', company: 'Engines Ltd' });
        assert.equal(known.statusCode, unknown.statusCode);
        assert.deepEqual(Object.keys(known.json<object>()), Object.keys(unknown.json<object>()));
        assert.deepEqual(Object.keys(known.headers).sort(), Object.keys(unknown.headers).sort());
        const [before] = await server.database.db.selectFrom('leads').selectAll().execute();
        assert.equal(
          before?.name,
          'Ada Lovelace',
          'a stranger who types an address changes nothing about it',
        );

        assert.equal((await enter(second, await newestCode(server, 2))).statusCode, 200);
        const leads = await server.database.db.selectFrom('leads').selectAll().execute();
        assert.deepEqual(
          leads.map(({ name, company }) => ({ name, company })),
          [{ name: 'Ada King', company: 'Engines Ltd' }],
        );
        assert.equal(await server.countRows('consent_receipts'), 2);
      }));

    it('reads the same for a wrong, an expired, a used and an unknown code', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        await ask(visitor);
        const code = await newestCode(server);
        const wrong = await enter(visitor, wrongFor(code));
        const unknown = await enter(createVisitor(server), '123456', 'nobody@example.com');
        await enter(visitor, code);
        const used = await enter(visitor, code);
        await ask(visitor, { email: 'late@example.com' });
        const late = await newestCode(server, 1, 'late@example.com');
        await server.advance(601);
        const expired = await enter(visitor, late, 'late@example.com');
        for (const response of [wrong, unknown, used, expired]) {
          assert.equal(response.statusCode, 400);
          assert.equal(response.headers['x-error-code'], 'wrong-code');
          assert.equal(response.body, wrong.body);
          assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
          assert.equal(
            response.cookies.some(({ name }) => name === 'session'),
            false,
          );
        }
        assert.equal(await server.countRows('leads'), 1);
      }));

    it('asking again within the resend time mails nothing, whoever of the same address asks', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        const first = await ask(visitor);
        const again = await ask(visitor, { name: 'Ada King' });
        // The answer and its cookie were lost: the same person without a cookie.
        const lost = createVisitor(server);
        const third = await ask(lost);
        for (const response of [again, third]) {
          assert.equal(response.statusCode, 202);
          assert.equal(
            response.json<{ reference: string }>().reference,
            first.json<{ reference: string }>().reference,
          );
        }
        const code = await newestCode(server);
        await server.advance(58);
        assert.equal((await ask(visitor)).statusCode, 202);
        await newestCode(server, 2);
        assert.equal(server.inbox.mails.length, 2, 'three seconds of tolerance, and no other mail');
        assert.equal((await enter(lost, code)).statusCode, 200, 'the lost answer punishes nobody');
      }));

    it('accepts the two newest codes, so that a slow mail strands nobody', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        const codes: string[] = [];
        for (const count of [1, 2, 3]) {
          await ask(visitor);
          codes.push(await newestCode(server, count));
          await server.advance(60);
        }
        assert.equal((await enter(visitor, codes[0] ?? '')).statusCode, 400, 'the third newest is too old');
        assert.equal((await enter(visitor, codes[1] ?? '')).statusCode, 200);
        assert.equal((await enter(visitor, codes[2] ?? '')).statusCode, 400, 'success uses up every code');
      }));

    it('has five wrong tries in a challenge, which a resend never resets', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        await ask(visitor);
        const code = await newestCode(server);
        for (let i = 0; i < 3; i += 1) assert.equal((await enter(visitor, wrongFor(code))).statusCode, 400);
        await server.advance(60);
        await ask(visitor);
        const second = await newestCode(server, 2);
        for (let i = 0; i < 2; i += 1) assert.equal((await enter(visitor, wrongFor(second))).statusCode, 400);
        const refused = await enter(visitor, second);
        assert.equal(refused.statusCode, 429);
        assert.equal(refused.headers['x-error-code'], 'too-many-tries');
        assert.ok(Number(refused.headers['retry-after']) > 0);
        assert.match(refused.body, /Please ask for a new code in \d+ minutes\.$/);
        await server.advance(60);
        assert.equal((await ask(visitor)).statusCode, 429, 'no code is mailed that could not be used');
        assert.equal(server.inbox.mails.length, 2);
        await server.advance(600);
        assert.equal((await ask(visitor)).statusCode, 202);
        assert.equal((await enter(visitor, await newestCode(server, 3))).statusCode, 200);
      }));

    it('gives a hundred calls at once no more than five tries', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        await ask(visitor);
        const code = await newestCode(server);
        const statuses = await Promise.all(
          Array.from({ length: 100 }, async () => (await enter(visitor, wrongFor(code))).statusCode),
        );
        assert.equal(statuses.filter((status) => status === 400).length, 5);
        assert.equal(statuses.filter((status) => status === 429).length, 95);
      }));

    it('opens one lead and one receipt when the right code arrives twice at once', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        await ask(visitor);
        const code = await newestCode(server);
        const statuses = await Promise.all(
          [1, 2, 3].map(async () => (await enter(visitor, code)).statusCode),
        );
        assert.deepEqual(statuses.toSorted(), [200, 400, 400]);
        assert.equal(await server.countRows('consent_receipts'), 1);
      }));

    it('cannot be locked out by a stranger, before or after asking for a code', () =>
      withServer({ engine }, async (server) => {
        const stranger = createVisitor(server, '198.51.100.1');
        const burn = async (who: Visitor) => {
          for (let i = 0; i < 8; i += 1) await enter(who, '000000');
        };
        await burn(stranger);
        await ask(stranger);
        await burn(stranger);
        const owner = createVisitor(server, '203.0.113.1');
        await ask(owner);
        const code = await newestCode(server, 2);
        await burn(stranger);
        await burn(createVisitor(server, '198.51.100.2'));
        assert.equal((await enter(owner, code)).statusCode, 200);
      }));

    it('works without the challenge cookie, on one small budget for the address', () =>
      withServer({ engine }, async (server) => {
        await ask(createVisitor(server));
        const code = await newestCode(server);
        const withoutCookie = () => createVisitor(server);
        assert.equal((await enter(withoutCookie(), code)).statusCode, 200);

        await ask(createVisitor(server), { email: 'grace@example.com' });
        const other = await newestCode(server, 1, 'grace@example.com');
        for (let i = 0; i < 5; i += 1) {
          assert.equal((await enter(withoutCookie(), wrongFor(other), 'grace@example.com')).statusCode, 400);
        }
        assert.equal((await enter(withoutCookie(), other, 'grace@example.com')).statusCode, 429);
      }));

    it('takes nobody else to the article: a forged or a foreign cookie opens nothing', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        await ask(visitor);
        const challenge = visitor.cookies.get('challenge') ?? '';
        await enter(visitor, await newestCode(server));
        const session = visitor.cookies.get('session') ?? '';
        const thief = createVisitor(server);
        for (const forged of [
          challenge,
          session.replace(/.$/, 'x'),
          `${session.slice(0, 20)}x`,
          'session:1:1',
          '',
          '.',
        ]) {
          thief.cookies.set('session', forged);
          assert.equal((await thief.get('/api/article')).statusCode, 401, forged);
        }
        thief.cookies.set('session', session);
        assert.equal((await thief.get('/api/article')).statusCode, 200);
        await server.advance(31 * 24 * 3600);
        assert.equal((await thief.get('/api/article')).statusCode, 401, 'a session does not last for ever');
      }));

    it('restores the code screen of the same browser, and tells no other browser anything', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        const { challengeId, reference } = (await ask(visitor)).json<{
          challengeId: string;
          reference: string;
        }>();
        await server.advance(20);
        const open = await visitor.get(`/api/challenge?id=${challengeId}`);
        assert.deepEqual(open.json<OpenChallenge>(), {
          name: 'Ada Lovelace',
          company: 'Analytical Engines',
          email: EMAIL,
          reference,
          resendSeconds: 40,
          consentVersion: '',
        });
        await newestCode(server);
        assert.equal(server.inbox.mails.length, 1, 'a reload sends nothing');
        const stranger = createVisitor(server);
        await ask(stranger, { email: 'other@example.com' });
        assert.equal((await stranger.get(`/api/challenge?id=${challengeId}`)).statusCode, 204);
        assert.equal((await createVisitor(server).get(`/api/challenge?id=${challengeId}`)).statusCode, 204);
        await enter(visitor, await newestCode(server));
        assert.equal((await visitor.get(`/api/challenge?id=${challengeId}`)).statusCode, 204);
      }));

    it('keeps two tabs with two addresses apart', () =>
      withServer({ engine }, async (server) => {
        const browser = createVisitor(server);
        await ask(browser);
        await ask(browser, { email: 'grace@example.com' });
        const first = await newestCode(server);
        const second = await newestCode(server, 1, 'grace@example.com');
        assert.equal((await enter(browser, second, 'grace@example.com')).statusCode, 200);
        assert.equal((await enter(browser, first)).statusCode, 200);
        assert.equal(await server.countRows('leads'), 2);
      }));

    it('answers a robot in the honeypot like everybody else, and stores and mails nothing', () =>
      withServer({ engine }, async (server) => {
        const robot = createVisitor(server);
        const response = await ask(robot, { website: 'https://spam.example' });
        assert.equal(response.statusCode, 202);
        assert.match(response.body, /"reference":"[A-Z]{3}"/);
        assert.equal(await server.countRows('submissions'), 0);
        assert.equal(await server.countRows('outbox'), 0);
        assert.equal((await ask(createVisitor(server), { website: '' })).statusCode, 202);
        assert.equal(await server.countRows('submissions'), 1);
      }));

    it('takes names and companies of the whole world', () =>
      withServer({ engine }, async (server) => {
        const visitor = createVisitor(server);
        const name = 'Żółć 李小龍 🦊 👩‍💻';
        const company = 'Пиво & "Öl" <Ltd> O\u2019Neil';
        await ask(visitor, { name, company });
        const mail = await server.inbox.waitForMail(EMAIL);
        assert.doesNotMatch(mail.raw, /Ltd|Neil|Öl/, 'nothing a visitor typed is in the mail');
        await enter(visitor, codeIn(mail));
        const [lead] = await server.database.db.selectFrom('leads').selectAll().execute();
        assert.deepEqual({ name: lead?.name, company: lead?.company }, { name, company });
      }));
  });
}
