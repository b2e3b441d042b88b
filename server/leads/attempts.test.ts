import assert from 'node:assert/strict';
import { it } from 'node:test';

import { prolongCode } from '#server/codes/codes.ts';
import { type CodeRequested, type OpenChallenge } from '#shared/api.ts';
import { inTurnBehindLock } from '#testing/address-lock.ts';
import {
  EMAIL,
  ask,
  askForCode,
  enter,
  enterWrong,
  newestCode,
  referenceOf,
  wrongFor,
  refusalOf,
  requestCode,
} from '#testing/lead-calls.ts';
import { createVisitor, withServer, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { valuesOf } from '#testing/values-of.ts';

const countEntered = async ({ database }: ServerUnderTest) =>
  (await database.db.selectFrom('codes').select('id').where('used_at', 'is not', null).execute()).length;

it('two requests that enter a late code never deadlock', () =>
  withServer({ engine: 'postgres' }, async (server) => {
    const { visitor, code: digits } = await askForCode(server);
    const { database } = server;
    const code = await database.db.selectFrom('codes').selectAll().executeTakeFirstOrThrow();
    const later = { expiresAt: code.expires_at + 60_000, now: server.now() };
    const [entered] = await inTurnBehindLock(database, EMAIL, [
      () => enter(visitor, digits),
      () => prolongCode(database.db, code, later),
    ]);
    assert.equal(entered.statusCode, 200);
    const [after] = await database.db.selectFrom('codes').select('expires_at').execute();
    assert.equal(after?.expires_at, code.expires_at);
  }));

it('the right code is refused while the last wrong attempt is ending the codes', () =>
  withServer({ engine: 'postgres' }, async (server) => {
    const { visitor, code } = await askForCode(server);
    await enterWrong(visitor, code, 4);
    const [lastWrong, right] = await inTurnBehindLock(server.database, EMAIL, [
      () => enter(visitor, wrongFor(code)),
      () => enter(visitor, code),
    ]);
    assert.equal(lastWrong.statusCode, 400);
    assert.equal(right.statusCode, 429);
  }));

onEachEngine('attempts', ({ test, both }) => {
  both('a challenge allows five wrong attempts, which a resend does not reset', async (server) => {
    const { visitor, asked: first, code } = await askForCode(server);
    await enterWrong(visitor, code, 3);
    await server.advance(60);
    const second = await requestCode(server, visitor, 2);
    await enterWrong(visitor, second, 2);
    const refused = await enter(visitor, second);
    assert.deepEqual(refusalOf(refused), [429, 'too-many-tries', 'code']);
    assert.equal(refused.headers['retry-after'], '1');
    assert.equal(refused.body, 'Too many wrong codes were entered. Please ask for a new code now.');
    const open = await visitor.get('/api/challenge');
    assert.equal(open.json<OpenChallenge>().resendSeconds, 0, 'another code can be had at once');

    const asked = await ask(visitor);
    assert.equal(asked.statusCode, 202);
    assert.equal(asked.json<CodeRequested>().resendSeconds, 60);
    assert.notEqual(asked.json<CodeRequested>().challengeId, first.json<CodeRequested>().challengeId);
    const third = await newestCode(server, 3);
    const again = await ask(visitor);
    assert.equal(referenceOf(again), referenceOf(asked));
    assert.equal((await enter(visitor, second)).statusCode, 400, 'the old codes are dead');
    await enterWrong(visitor, third, 3);
    assert.equal((await enter(visitor, third)).statusCode, 200, 'the new one has its own tries');
    assert.equal(server.inbox.mails.length, 3);
    assert.equal(await server.countRows('consent_receipts'), 1);
    assert.equal(await countEntered(server), 1, 'only entered codes are marked as used');
  });

  test('a code whose attempts are used up does not work in any other browser', async (server) => {
    const { visitor, code: dead } = await askForCode(server);
    const rider = createVisitor(server);
    assert.equal((await ask(rider)).statusCode, 202);
    await enterWrong(visitor, dead, 5);
    assert.equal((await enter(rider, dead)).statusCode, 400);
    assert.equal((await enter(createVisitor(server, '198.51.100.9'), dead)).statusCode, 400);
    const other = createVisitor(server);
    assert.equal((await ask(other)).statusCode, 202);
    const code = await newestCode(server, 2);
    assert.notEqual(code, dead);
    assert.equal((await enter(other, code)).statusCode, 200);
    assert.equal(await countEntered(server), 1);
    assert.equal((await ask(rider)).statusCode, 202);
    assert.equal(
      (await enter(rider, await newestCode(server, 3))).statusCode,
      200,
      'nor is the rider stranded',
    );
  });

  test('a visitor who has used up shared attempts can continue with cookies and a new code', async (server) => {
    const { code } = await askForCode(server);
    const tryWithoutCookies = () => enter(createVisitor(server), wrongFor(code));
    for (let tries = 0; tries < 5; tries += 1) assert.equal((await tryWithoutCookies()).statusCode, 400);
    const refused = await tryWithoutCookies();
    assert.deepEqual(refusalOf(refused), [429, 'too-many-tries-without-cookies', 'code']);
    assert.ok(Number(refused.headers['retry-after']) >= 600);
    assert.equal(
      refused.body,
      'Too many wrong codes were entered. Please allow cookies for this page, then ask for a new code.',
    );
    await server.advance(60);
    const again = await askForCode(server);
    assert.equal((await enter(again.visitor, again.code)).statusCode, 200);
  });

  test(
    'a visitor with neither attempts nor codes left learns when the next code may be sent',
    { env: { LEADS_PER_EMAIL_PER_HOUR: '2' } },
    async (server) => {
      const { visitor, code } = await askForCode(server);
      await enterWrong(visitor, code, 5);
      await server.advance(600);
      const second = await requestCode(server, visitor, 2);
      await enterWrong(visitor, second, 5);
      const tried = await enter(visitor, second);
      const asked = await ask(visitor);
      assert.deepEqual(refusalOf(tried), [429, 'too-many-tries', 'code']);
      assert.deepEqual(refusalOf(asked), [429, 'too-many-codes', 'email']);
      for (const refused of [tried, asked]) {
        assert.equal(refused.headers['retry-after'], '3000');
        assert.match(refused.body, / in 50 minutes\.$/);
      }
      await server.advance(3000);
      assert.equal((await ask(visitor)).statusCode, 202);
      assert.equal((await enter(visitor, await newestCode(server, 3))).statusCode, 200);
    },
  );

  both(
    'each of many parallel attempts gets a response, and the visitor can start again',
    { env: { LEADS_PER_EMAIL_PER_HOUR: '0' } },
    async (server) => {
      for (let round = 1; round <= 8; round += 1) {
        const { visitor, code } = await askForCode(server, `203.0.113.${round}`);
        const wrong = wrongFor(code);
        const answers = await Promise.all(
          [wrong, code, wrong, wrong, wrong, wrong].map((typed) => enter(visitor, typed)),
        );
        const statuses = valuesOf(answers, 'statusCode');
        assert.ok(
          statuses.every((status) => [200, 400, 429].includes(status)),
          String(statuses),
        );
        assert.ok(statuses.filter((status) => status === 400).length <= 5, String(statuses));
        if (statuses[1] === 200) continue;
        const mails = server.inbox.mails.length;
        assert.equal((await ask(visitor)).statusCode, 202);
        assert.equal((await enter(visitor, await newestCode(server, mails + 1))).statusCode, 200);
      }
      assert.equal(await server.countRows('consent_receipts'), 8);
    },
  );

  test('a visitor gets a new code after the shared attempts are used up', async (server) => {
    const stranger = createVisitor(server, '198.51.100.1');
    const [first, second] = [createVisitor(server), createVisitor(server)];
    for (let round = 0; round < 4; round += 1) {
      await askForCode(server, `198.51.100.${round + 2}`);
      for (let i = 0; i < 5; i += 1) await enter(stranger, '000000');
      await server.advance(round === 3 ? 3600 : 11 * 60);
    }
    const lost = await requestCode(server, first, 5);
    const own = await requestCode(server, second, 6);
    assert.equal((await enter(createVisitor(server, '203.0.113.2'), lost)).statusCode, 429);
    await enterWrong(second, own, 4);
    assert.equal((await enter(second, own)).statusCode, 200);
  });

  test('attempts do not reveal whether someone is waiting for a code', async (server) => {
    const stranger = createVisitor(server, '198.51.100.1');
    const owner = createVisitor(server, '203.0.113.1');
    const differences: string[] = [];
    const compareAnswers = async (when: string, tries: number) => {
      for (let i = 0; i < tries; i += 1) {
        const [waits, nobody] = [
          await enter(stranger, '000000', EMAIL),
          await enter(stranger, '000000', 'nobody@example.com'),
        ];
        const seen = ({ statusCode, headers, body }: typeof waits) =>
          `${statusCode} ${String(headers['retry-after'])} ${body}`;
        if (seen(waits) !== seen(nobody))
          differences.push(`${when}, ${i + 1}: ${seen(waits)} / ${seen(nobody)}`);
      }
    };
    await compareAnswers('before', 3);
    await requestCode(server, owner);
    await compareAnswers('a code is live', 4);
    await server.advance(61);
    await requestCode(server, owner, 2);
    await compareAnswers('two codes are live', 4);
    await server.advance(9.5 * 60);
    await compareAnswers('one code is live', 6);
    await server.advance(6 * 60);
    await compareAnswers('no code is live', 7);
    await server.advance(20 * 60);
    await requestCode(server, owner, 3);
    await compareAnswers('the day is used up', 4);
    await server.advance(26 * 3600);
    await compareAnswers('the next day', 6);
    assert.deepEqual(differences, []);
  });

  test('a stranger cannot lock a visitor out, before or after a code is requested', async (server) => {
    const stranger = createVisitor(server, '198.51.100.1');
    const burn = async (who: Visitor) => {
      for (let i = 0; i < 8; i += 1) await enter(who, '000000');
    };
    await burn(stranger);
    await ask(stranger);
    await burn(stranger);
    const owner = createVisitor(server, '203.0.113.1');
    const code = await requestCode(server, owner, 2);
    await burn(stranger);
    await burn(createVisitor(server, '198.51.100.2'));
    assert.equal((await enter(owner, code)).statusCode, 200);
  });

  test('a browser that enters the code of one e-mail address keeps its challenge for another', async (server) => {
    const visitor = createVisitor(server);
    await ask(visitor);
    const email = 'grace@example.com';
    const asked = await ask(visitor, { email });
    const { challengeId } = asked.json<CodeRequested>();
    assert.equal((await enter(visitor, await newestCode(server))).statusCode, 200);
    const code = await newestCode(server, 1, email);
    const stranger = createVisitor(server, '198.51.100.1');
    for (let i = 0; i < 8; i += 1) await enter(stranger, wrongFor(code), email);
    assert.equal((await visitor.get(`/api/challenge?id=${challengeId}`)).statusCode, 200);
    assert.equal((await enter(visitor, wrongFor(code), email)).statusCode, 400);
    assert.equal((await enter(visitor, code, email)).statusCode, 200);
    const receipts = await server.database.db.selectFrom('consent_receipts').select('same_browser').execute();
    assert.deepEqual(receipts, [{ same_browser: 1 }, { same_browser: 1 }]);
  });

  both('a visitor whose verification response was lost gets in with the same code', async (server) => {
    const { visitor, asked, code } = await askForCode(server);
    const { challengeId, reference } = asked.json<CodeRequested>();
    assert.equal((await enter(visitor, code)).statusCode, 200);
    const screen = () => visitor.get(`/api/challenge?id=${challengeId}`);
    assert.equal((await screen()).json<OpenChallenge>().verified, true, 'the session opens the article');

    visitor.cookies.delete('session');
    const found = await screen();
    assert.equal(found.statusCode, 200);
    const { email, reference: shown, verified } = found.json<OpenChallenge>();
    assert.deepEqual([email, shown, verified], [EMAIL, reference, undefined]);
    const other = createVisitor(server);
    await ask(other, { email: 'eve@example.com' });
    assert.equal((await other.get(`/api/challenge?id=${challengeId}`)).statusCode, 204);
    assert.equal((await enter(visitor, wrongFor(code))).statusCode, 400);
    assert.equal((await enter(visitor, code)).statusCode, 200);
    assert.equal(await server.countRows('consent_receipts'), 1);
    const metrics = await server.metrics.render();
    assert.match(metrics.body, /time_to_code_seconds_count 1\n/, 'one code was entered, once');
    assert.equal((await enter(createVisitor(server, '198.51.100.1'), code)).statusCode, 400);

    visitor.cookies.delete('session');
    await server.advance(server.config.codeTtlSeconds);
    assert.equal((await screen()).statusCode, 204, 'a code that has had its time opens nothing');
    assert.equal((await enter(visitor, code)).statusCode, 400);
  });

  test(
    "entering another browser's new code uses up no attempt of a verified browser",
    { env: { CODE_ATTEMPTS: '1' } },
    async (server) => {
      const { visitor, code } = await askForCode(server);
      assert.equal((await enter(visitor, code)).statusCode, 200);
      await ask(createVisitor(server, '203.0.113.2'));
      assert.equal((await enter(visitor, await newestCode(server, 2))).statusCode, 200);
      assert.equal((await enter(visitor, code)).statusCode, 200);
    },
  );
});
