import assert from 'node:assert/strict';

import { sql } from 'kysely';

import { prolongCode } from '#server/codes/codes.ts';
import { CONSENT_VERSION_HEADER, type CodeRequested, type OpenChallenge, WITH_ARTICLE } from '#shared/api.ts';
import { codeIn } from '#testing/inbox.ts';
import {
  EMAIL,
  ask,
  askForCode,
  enter,
  enterWrong,
  newestCode,
  newTab,
  referenceOf,
  wrongFor,
  refusalOf,
  requestCode,
} from '#testing/lead-calls.ts';
import { createVisitor } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { receiptsOf } from '#testing/consents.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { valuesOf } from '#testing/values-of.ts';

onEachEngine('leads', ({ test, both }) => {
  both('a visitor who enters the code can read the article, with proof of consent', async (server) => {
    const visitor = createVisitor(server, '203.0.113.7');
    const locked = await visitor.get('/api/article');
    assert.equal(locked.statusCode, 401);
    assert.match(locked.body, /^Please verify your email address/);

    const form = { email: '  Ada@Example.COM ', name: ' Ada Lovelace ' };
    const requested = await ask(visitor, form, {
      [CONSENT_VERSION_HEADER]: server.campaign.consent.version,
      referer: 'http://localhost/?utm_source=newsletter&utm_medium=email&other=1',
      'user-agent': 'Test/1',
    });
    assert.equal(requested.statusCode, 202, requested.body);
    assert.equal(await server.countRows('submissions'), 1);
    assert.equal(await server.countRows('leads'), 0);

    const mail = await server.inbox.waitForMail(EMAIL);
    assert.ok(mail.parsed.text?.includes(referenceOf(requested)));
    const verified = await enter(visitor, codeIn(mail), 'ADA@example.com');
    assert.equal(verified.statusCode, 200, verified.body);
    for (const [response, name] of [
      [requested, 'challenge'],
      [verified, 'session'],
    ] as const) {
      const cookie = response.cookies.find((one) => one.name === name);
      assert.deepEqual([cookie?.httpOnly, cookie?.sameSite, cookie?.maxAge], [true, 'Lax', undefined]);
    }

    const article = await visitor.get('/api/article');
    assert.equal(article.statusCode, 200);
    assert.match(article.json<{ html: string }>().html, /Response rate = ICP accuracy \+ deliverability/);
    assert.equal(article.headers['cache-control'], 'private, no-store');

    const [lead] = await server.database.db.selectFrom('leads').selectAll().execute();
    assert.equal(lead?.email, EMAIL);
    assert.equal(lead?.name, 'Ada Lovelace');
    assert.deepEqual(JSON.parse(lead?.attribution ?? ''), { utm_source: 'newsletter', utm_medium: 'email' });
    const [receipt] = await receiptsOf(server);
    assert.equal(receipt?.text, server.campaign.consent.text);
    assert.equal(receipt?.client_address, '203.0.113.7');
    assert.equal(receipt?.user_agent, 'Test/1');
    assert.ok(receipt && receipt.verified_at >= receipt.given_at);
  });

  test('the article comes with the verification response only if the browser keeps cookies', async (server) => {
    const headers = { prefer: WITH_ARTICLE };
    const { visitor, code } = await askForCode(server);
    const locked = server.campaign.article.html.slice(0, 40);
    const refused = await visitor.post('/api/verify', { email: EMAIL, code: wrongFor(code) }, { headers });
    assert.equal(refused.statusCode, 400);
    assert.ok(!refused.body.includes(locked));
    assert.equal(refused.headers['preference-applied'], undefined);
    const verified = await visitor.post('/api/verify', { email: EMAIL, code }, { headers });
    assert.deepEqual(verified.json(), { verified: true, article: server.campaign.article });
    assert.equal(verified.headers['cache-control'], 'no-store');
    assert.equal(verified.headers['preference-applied'], WITH_ARTICLE);
    assert.deepEqual((await visitor.get('/api/article')).json(), server.campaign.article);

    await server.advance(3600);
    const other = await askForCode(server);
    const plain = await enter(other.visitor, other.code);
    assert.deepEqual(plain.json(), { verified: true });
    assert.equal(plain.headers['preference-applied'], undefined);

    await server.advance(3600);
    const { visitor: forgetful, code: third } = await askForCode(server);
    forgetful.cookies.clear();
    const without = await forgetful.post('/api/verify', { email: EMAIL, code: third }, { headers });
    assert.deepEqual(without.json(), { verified: true });
    assert.doesNotMatch(server.logLines.join(''), new RegExp(code));
  });

  both('a returning lead gets another receipt and the same response', async (server) => {
    const { visitor: first, asked: unknown, code } = await askForCode(server, '203.0.113.1');
    await enter(first, code);
    await server.advance(3600);

    const second = createVisitor(server, '203.0.113.2');
    const known = await ask(second, { name: 'Ada King', company: 'Engines Ltd' });
    assert.equal(known.statusCode, unknown.statusCode);
    assert.deepEqual(Object.keys(known.json<object>()), Object.keys(unknown.json<object>()));
    const fields = ['challengeId', 'reference', 'resendSeconds', 'sender'];
    assert.deepEqual(Object.keys(known.json<object>()).toSorted(), fields);
    assert.deepEqual(Object.keys(known.headers).sort(), Object.keys(unknown.headers).sort());
    const [before] = await server.database.db.selectFrom('leads').selectAll().execute();
    assert.equal(before?.name, 'Ada Lovelace', 'a stranger who types an address changes nothing about it');

    assert.equal((await enter(second, await newestCode(server, 2))).statusCode, 200);
    const leads = await server.database.db.selectFrom('leads').selectAll().execute();
    assert.equal(leads.length, 1);
    assert.partialDeepStrictEqual(leads[0], { name: 'Ada King', company: 'Engines Ltd' });
    assert.equal(await server.countRows('consent_receipts'), 2);
  });

  test('a wrong, an expired, a used and an unknown code get the same response', async (server) => {
    const { visitor, code } = await askForCode(server);
    const wrong = await enter(visitor, wrongFor(code));
    const unknown = await enter(createVisitor(server), '123456', 'nobody@example.com');
    await enter(visitor, code);
    const used = await enter(createVisitor(server), code);
    await ask(visitor, { email: 'late@example.com' });
    const late = await newestCode(server, 1, 'late@example.com');
    await server.advance(601);
    const expired = await enter(visitor, late, 'late@example.com');
    for (const response of [wrong, unknown, used, expired]) {
      assert.deepEqual(refusalOf(response), [400, 'wrong-code', 'code']);
      assert.equal(response.body, wrong.body);
      assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
      assert.equal(
        response.cookies.some(({ name }) => name === 'session'),
        false,
      );
    }
    assert.equal(await server.countRows('leads'), 1);
  });

  test('a visitor gets no second mail within the resend time, even from another browser', async (server) => {
    const visitor = createVisitor(server);
    const first = await ask(visitor);
    const again = await ask(visitor, { name: 'Ada King' });
    const lost = createVisitor(server);
    const third = await ask(lost);
    for (const response of [again, third]) {
      assert.equal(response.statusCode, 202);
      assert.equal(referenceOf(response), referenceOf(first));
    }
    const code = await newestCode(server);
    await server.advance(56);
    assert.equal(referenceOf(await ask(visitor)), referenceOf(first));
    await server.advance(2);
    assert.equal((await ask(visitor)).statusCode, 202);
    await newestCode(server, 2);
    assert.equal(server.inbox.mails.length, 2, 'a twentieth of tolerance, and no other mail');
    assert.equal((await enter(lost, code)).statusCode, 200, 'the lost answer punishes nobody');
  });

  both("a browser that asks again can use another browser's newer code until it expires", async (server) => {
    const [laptop, phone] = [createVisitor(server), createVisitor(server)];
    await requestCode(server, laptop);
    assert.equal((await ask(phone)).statusCode, 202);
    await server.advance(300);
    const newer = await requestCode(server, laptop, 2);
    assert.equal((await ask(phone, { name: 'Ada King' })).statusCode, 202);
    const code = await server.database.db
      .selectFrom('codes')
      .selectAll()
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow();
    await server.advance(500);
    await prolongCode(server.database.db, code, { expiresAt: code.expires_at + 60_000, now: server.now() });
    await server.advance(150);
    assert.equal((await enter(phone, newer)).statusCode, 200);
    const lead = await server.database.db.selectFrom('leads').select('name').executeTakeFirstOrThrow();
    assert.equal(lead.name, 'Ada King');
  });

  both('either of the two newest codes works, so a slow mail does not strand a visitor', async (server) => {
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
  });

  test('a browser that has used the code of another challenge can enter it again', async (server) => {
    const { code } = await askForCode(server);
    const rider = createVisitor(server);
    await ask(rider);
    const lost = rider.cookies.get('challenge') ?? '';
    assert.equal((await enter(rider, code)).statusCode, 200);
    rider.cookies.set('challenge', lost);
    assert.equal((await enter(rider, code)).statusCode, 200);
    assert.equal(await server.countRows('consent_receipts'), 1);
    rider.cookies.set('challenge', lost);
    await enterWrong(rider, code, 5);
    assert.equal((await enter(rider, code)).statusCode, 429, 'counted before it is compared');
  });

  both('two live codes entered at once record each form at most once', async (server) => {
    let receipts = 0;
    for (let round = 0; round < 12; round += 1) {
      const email = `ada-${round}@example.com`;
      const owner = createVisitor(server, '203.0.113.1');
      await ask(owner, { email });
      const first = await newestCode(server, 1, email);
      await server.advance(60);
      const oneChallenge = round % 4 < 2;
      await ask(oneChallenge ? owner : createVisitor(server, '203.0.113.1'), { email });
      const second = await newestCode(server, 2, email);
      const rider = createVisitor(server, '203.0.113.1');
      await ask(rider, { email });
      const who = [rider, owner, createVisitor(server, '203.0.113.1')][round % 3] ?? rider;
      const tabs = [newTab(server, who, '203.0.113.1'), newTab(server, who, '203.0.113.1')] as const;
      const answers = await Promise.all([enter(tabs[0], first, email), enter(tabs[1], second, email)]);
      const statuses = valuesOf(answers, 'statusCode');
      // Entering one code invalidates the other, unless the other was already being compared.
      assert.ok(
        statuses.includes(200) && statuses.every((status) => status === 200 || status === 400),
        `round ${round}: ${String(statuses)}`,
      );
      const right = statuses.filter((status) => status === 200).length;
      // Both codes of one challenge record its form. Codes of two challenges record two, unless a browser without a code of
      // its own enters the second before the first is accepted: then both are for its own challenge.
      const least = oneChallenge || who === rider ? 1 : right;
      const most = oneChallenge ? 1 : right;
      const added = (await server.countRows('consent_receipts')) - receipts;
      assert.ok(added >= least && added <= most, `round ${round}: ${added} receipts for ${right} codes`);
      receipts += added;
    }
  });

  test('a visitor gets a working code after the clock was set back', async (server) => {
    const visitor = createVisitor(server);
    await requestCode(server, visitor);
    await server.advance(60);
    await requestCode(server, visitor, 2);
    await server.advance(-3600);
    const open = await visitor.get('/api/challenge');
    assert.ok(open.json<OpenChallenge>().resendSeconds <= 60);
    const asked = await ask(visitor);
    assert.equal(asked.statusCode, 202);
    assert.equal(asked.json<CodeRequested>().resendSeconds, 60);
    const code = await newestCode(server, 3);
    const again = await ask(visitor);
    assert.equal(referenceOf(again), referenceOf(asked));
    assert.equal(server.inbox.mails.length, 3, 'a double click still mails nothing');
    assert.equal((await enter(visitor, code)).statusCode, 200);
  });

  test('a forged or foreign cookie does not open the article', async (server) => {
    const { visitor, code } = await askForCode(server);
    const challenge = visitor.cookies.get('challenge') ?? '';
    await enter(visitor, code);
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
    assert.equal((await thief.get('/api/article')).statusCode, 401, 'a session does not last forever');
    await server.advance(-32 * 24 * 3600);
    assert.equal((await thief.get('/api/article')).statusCode, 200, 'a clock set back ends none');
    await server.advance(-30 * 24 * 3600);
    assert.equal((await thief.get('/api/article')).statusCode, 401, 'nor does it make one last forever');
  });

  test('a visitor gets the code screen back only in the same browser', async (server) => {
    const visitor = createVisitor(server);
    const { challengeId, reference, sender } = (await ask(visitor)).json<CodeRequested>();
    assert.equal(sender, 'guide@example.com');
    await server.advance(20);
    await until(() => server.mailEvents.length === 1);
    const open = await visitor.get(`/api/challenge?id=${challengeId}`);
    assert.deepEqual(open.json<OpenChallenge>(), {
      name: 'Ada Lovelace',
      company: 'Analytical Engines',
      email: EMAIL,
      reference,
      resendSeconds: 40,
      askedSecondsAgo: 20,
      consentVersion: '',
      mail: 'sent',
      sender,
    });
    await newestCode(server);
    assert.equal(server.inbox.mails.length, 1, 'a reload sends nothing');
    const stranger = createVisitor(server);
    await ask(stranger, { email: 'other@example.com' });
    assert.equal((await stranger.get(`/api/challenge?id=${challengeId}`)).statusCode, 204);
    assert.equal((await createVisitor(server).get(`/api/challenge?id=${challengeId}`)).statusCode, 204);
    await enter(visitor, await newestCode(server));
    assert.equal((await visitor.get('/api/challenge')).statusCode, 204, 'it waits for no code any more');
  });

  both('a form whose mail cannot be queued gets an error and is not stored', async (server) => {
    await sql`alter table outbox rename column payload to payload_away`.execute(server.database.db);
    const response = await ask(createVisitor(server));
    assert.equal(response.statusCode, 500);
    for (const table of ['submissions', 'codes'] as const)
      assert.equal(await server.countRows(table), 0, table);
    await sql`alter table outbox rename column payload_away to payload`.execute(server.database.db);
  });
});
