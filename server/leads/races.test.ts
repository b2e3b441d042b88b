import assert from 'node:assert/strict';

import { sql } from 'kysely';

import { countLockWaiters, countWaitingStatements, inTurn } from '#testing/address-lock.ts';
import {
  EMAIL,
  ask,
  askForCode,
  enter,
  newestCode,
  newTab,
  wrongFor,
  refusalOf,
} from '#testing/lead-calls.ts';
import { createVisitor, type ServerUnderTest } from '#testing/server-under-test.ts';
import { erasePerson } from '#testing/erase-person.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { until } from '#testing/until.ts';
import { valuesOf } from '#testing/values-of.ts';

const attemptsOf = ({ database }: ServerUnderTest) =>
  database.db.selectFrom('submissions').select('wrong_attempts').execute();

onEachEngine('concurrent requests', ({ both: test, engine }) => {
  test('two tabs that enter the same code are both admitted as one lead', async (server) => {
    const { visitor: tab, code } = await askForCode(server);
    const tabs = [tab, newTab(server, tab)] as const;
    const responses = await inTurn(server.database, EMAIL, [
      () => enter(tabs[0], code),
      () => enter(tabs[1], code),
    ]);
    for (const { statusCode, body } of responses) assert.equal(statusCode, 200, body);
    for (const { cookies } of tabs) assert.ok(cookies.has('session'));
    assert.equal(await server.countRows('leads'), 1);
    assert.equal(await server.countRows('consent_receipts'), 1);
    assert.deepEqual(await attemptsOf(server), [{ wrong_attempts: 0 }]);
  });

  test('two tabs that enter the code of another browser in their network are both admitted', async (server) => {
    const { code } = await askForCode(server);
    const tab = createVisitor(server);
    await ask(tab);
    const other = newTab(server, tab);
    const responses = await Promise.all([enter(tab, code), enter(other, code)]);
    for (const { statusCode, body } of responses) assert.equal(statusCode, 200, body);
    assert.equal(await server.countRows('consent_receipts'), 1);
  });

  // On SQLite, a transaction holds the lock of all rows.
  if (engine === 'postgres')
    test('three tabs that enter the same code are all admitted, however they wait for each other', async (server) => {
      const { visitor: tab, code } = await askForCode(server);
      const enterInTab = () => enter(newTab(server, tab), code);
      const { db } = server.database;
      const { responses } = await db.transaction().execute(async (tx) => {
        await sql`lock table consent_receipts in share mode`.execute(tx);
        const firstTwo = inTurn(server.database, EMAIL, [enterInTab, enterInTab]);
        // The first has completed the challenge, and the second waits for its lock.
        await until(
          async () => (await countLockWaiters(db)) === 1 && (await countWaitingStatements(db)) === 2,
        );
        const third = enterInTab();
        await until(async () => (await countWaitingStatements(db)) === 3);
        return { responses: [firstTwo, third] as const };
      });
      for (const { statusCode, body } of (await Promise.all(responses)).flat())
        assert.equal(statusCode, 200, body);
      assert.equal(await server.countRows('consent_receipts'), 1);
      assert.deepEqual(await attemptsOf(server), [{ wrong_attempts: 0 }]);
    });

  // SQLite runs one transaction after the other, so the second tab gets the answer for a wrong code.
  if (engine === 'postgres')
    test('two verified tabs that enter the code of a later form elsewhere are both admitted', async (server) => {
      const { visitor: tab, code } = await askForCode(server);
      await enter(tab, code);
      await server.advance(70);
      await ask(createVisitor(server, '203.0.113.8'));
      const later = await newestCode(server, 2);
      const other = newTab(server, tab, '203.0.113.9');
      const responses = await inTurn(server.database, EMAIL, [
        () => enter(tab, later),
        () => enter(other, later),
      ]);
      for (const { statusCode, body } of responses) assert.equal(statusCode, 200, body);
      assert.equal(await server.countRows('consent_receipts'), 2);
    });

  test('a lost verification response uses up no attempt, so the same code works seven times', async (server) => {
    const { visitor, code } = await askForCode(server);
    const lost = newTab(server, visitor);
    for (let entry = 0; entry < 7; entry += 1) {
      const { statusCode, body } = await enter(newTab(server, lost), code);
      assert.equal(statusCode, 200, body);
    }
    const parallel = await Promise.all(Array.from({ length: 4 }, () => enter(newTab(server, lost), code)));
    assert.deepEqual(valuesOf(parallel, 'statusCode'), [200, 200, 200, 200]);
    assert.equal(await server.countRows('consent_receipts'), 1);
    assert.deepEqual(await attemptsOf(server), [{ wrong_attempts: 0 }]);
  });

  test('many parallel attempts without cookies leave the owner five attempts', async (server) => {
    const { visitor: owner, code } = await askForCode(server, '203.0.113.1');
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        enter(createVisitor(server, `198.51.100.${at + 1}`), wrongFor(code)),
      ),
    );
    const statuses = valuesOf(responses, 'statusCode');
    assert.equal(statuses.filter((status) => status === 400).length, 5, String(statuses));
    assert.equal(statuses.filter((status) => status === 429).length, 15, String(statuses));
    const late = await enter(createVisitor(server, '198.51.100.99'), code);
    assert.equal(late.statusCode, 429, 'the right code is not compared, either');
    assert.equal(await server.countRows('leads'), 0);
    assert.deepEqual(await attemptsOf(server), [{ wrong_attempts: 0 }]);
    assert.equal((await enter(owner, code)).statusCode, 200);
  });

  test('a code is refused if its e-mail address is erased during the comparison', async (server) => {
    const { visitor, code } = await askForCode(server);
    await server.advance(0);
    const [erased, entered] = await inTurn(server.database, EMAIL, [
      () => erasePerson(server),
      () => enter(visitor, code),
    ]);
    assert.equal(erased.codes, 1);
    assert.deepEqual(refusalOf(entered), [400, 'wrong-code', 'code'], entered.body);
    assert.equal(visitor.cookies.has('session'), false);
    for (const table of ['leads', 'consent_receipts', 'submissions'] as const)
      assert.equal(await server.countRows(table), 0, table);
  });

  test('erasing a lead verified a moment ago ends their session', async (server) => {
    const { visitor, code } = await askForCode(server);
    await server.advance(0);
    const [entered] = await inTurn(server.database, EMAIL, [
      () => enter(visitor, code),
      () => erasePerson(server),
    ]);
    for (const table of ['leads', 'consent_receipts', 'submissions'] as const)
      assert.equal(await server.countRows(table), 0, table);
    if (entered.statusCode === 200) assert.equal((await visitor.get('/api/article')).statusCode, 401);
  });

  test('a code can be verified while the next one is requested', async (server) => {
    const { visitor, code } = await askForCode(server);
    await server.advance(60);
    const tab = newTab(server, visitor);
    const [resent, entered] = await inTurn(server.database, EMAIL, [
      () => ask(tab),
      () => enter(visitor, code),
    ]);
    assert.equal(resent.statusCode, 202, resent.body);
    assert.equal(entered.statusCode, 200, entered.body);
    assert.equal((await visitor.get('/api/article')).statusCode, 200);
    assert.equal(await server.countRows('leads'), 1);
    assert.equal(await server.countRows('consent_receipts'), 1);
    assert.deepEqual(new Set(valuesOf(await attemptsOf(server), 'wrong_attempts')), new Set([0]));
  });

  test('a code requested right after the previous one was entered starts a new challenge', async (server) => {
    const { visitor, code } = await askForCode(server);
    await server.advance(60);
    const tab = newTab(server, visitor);
    const [entered, resent] = await inTurn(server.database, EMAIL, [
      () => enter(visitor, code),
      () => ask(tab),
    ]);
    assert.equal(entered.statusCode, 200, entered.body);
    assert.equal(resent.statusCode, 202, resent.body);
    const second = await newestCode(server, 2);
    const again = await enter(tab, second);
    assert.ok([200, 400].includes(again.statusCode), again.body);
    assert.equal(await server.countRows('leads'), 1);
    assert.equal(await server.countRows('consent_receipts'), again.statusCode === 200 ? 2 : 1);
  });

  test('a resend between wrong codes does not reset the attempts of the challenge', async (server) => {
    const { visitor, code } = await askForCode(server);
    const wrong = wrongFor(code);
    await server.advance(60);
    // Only four attempts, because a resend after the fifth opens a new challenge.
    const responses = await Promise.all([
      ...[1, 2].map(() => enter(visitor, wrong)),
      ask(newTab(server, visitor)),
      ...[3, 4].map(() => enter(visitor, wrong)),
    ]);
    assert.deepEqual(valuesOf(responses, 'statusCode'), [400, 400, 202, 400, 400]);
    assert.equal((await enter(visitor, wrong)).statusCode, 400, 'the fifth');
    assert.equal((await enter(visitor, wrong)).statusCode, 429, 'the sixth');
  });
});
