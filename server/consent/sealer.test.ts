import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';

import type { Contents } from '#server/consent/chain.ts';
import { countLeads } from '#server/db/queries/report-figures.ts';
import { deriveSecrets } from '#server/secrets/secrets.ts';
import { createSealer } from '#server/consent/sealer.ts';
import { agree, verifyReport } from '#testing/consents.ts';
import { askForCode, enter, requestCode } from '#testing/lead-calls.ts';
import { createVisitor, TEST_SECRET, withServer } from '#testing/server-under-test.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { until } from '#testing/until.ts';
import { valuesOf } from '#testing/values-of.ts';

onEachEngine('sealing', ({ both: test }) => {
  test('two consents of one person in the same millisecond are sealed separately', async (server) => {
    const [phone, laptop] = ['203.0.113.1', '203.0.113.2'].map((from) => createVisitor(server, from));
    assert.ok(phone && laptop);
    const first = await requestCode(server, phone);
    const second = await requestCode(server, laptop, 2);
    const cookies = [phone, laptop].map((browser) => [...browser.cookies]);
    const entered = await Promise.all([enter(phone, first), enter(laptop, second)]);
    assert.deepEqual(valuesOf(entered, 'statusCode'), [200, 200]);
    await server.advance(61);
    await createSealer(server.service, () => false)();
    const { db } = server.database;
    const chain = await db.selectFrom('consent_chain').select('content').orderBy('position').execute();
    const mails = chain.map(({ content }) => (JSON.parse(content ?? '') as Contents['consent']).message_id);
    assert.equal(new Set(mails).size, 2);
    assert.deepEqual((await verifyReport(server)).errors, []);
    assert.equal(await countLeads(db, { from: 0, to: server.now() }), 1);
    for (const [at, browser] of [phone, laptop].entries()) {
      for (const [name, value] of cookies[at] ?? []) browser.cookies.set(name, value);
      assert.equal((await enter(browser, at === 0 ? first : second)).statusCode, 200);
    }
  });

  test('a proof states no reply to an e-mail, and no time, if the connection was lost before the reply', async (server) => {
    server.inbox.behave({ onMessage: () => 'cut off' });
    const { visitor, code } = await askForCode(server);
    await until(() => server.mailEvents.length === 1);
    await server.advance(20);
    assert.equal((await enter(visitor, code)).statusCode, 200);
    server.wakeWorker();
    await until(() => server.mailEvents.at(-1)?.type === 'dropped');
    await server.advance(61);
    await createSealer(server.service, () => false)();
    const { db } = server.database;
    const { content } = await db.selectFrom('consent_chain').select('content').executeTakeFirstOrThrow();
    assert.partialDeepStrictEqual(JSON.parse(content ?? ''), {
      message_id: server.inbox.mails[0]?.parsed.messageId,
      mailed_at: null,
      reply: null,
    });
  });
});

it('a round of sealing finds consents from before a failed round or a suspension of the process', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const { db } = server.database;
    const round = createSealer(server.service, () => false);
    await round();
    await agree(server, 'ada@example.com');
    await sql`alter table consent_chain rename to consent_chain_away`.execute(db);
    await assert.rejects(round(), /consent_chain/);
    await sql`alter table consent_chain_away rename to consent_chain`.execute(db);
    await server.advance(3_600);
    await round();
    assert.equal(await server.countRows('consent_chain'), 1);
    await agree(server, 'eve@example.com');
    await server.advance(3_600);
    await round();
    assert.equal(await server.countRows('consent_chain'), 2);
  }));

it('a round of sealing finds consents left for a withdrawn newer secret', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const secrets = deriveSecrets(['the new secret, long enough for anybody', TEST_SECRET]);
    await agree(server, 'ada@example.com');
    await server.advance(61);
    await createSealer({ ...server.service, secrets }, () => false)();
    const round = createSealer(server.service, () => false);
    for (const email of ['bob@example.com', 'eve@example.com', 'gus@example.com']) {
      await agree(server, email);
      await server.advance(600);
      await round();
    }
    assert.equal(await server.countRows('consent_chain'), 1);
    await server.advance(3_600);
    await round();
    assert.equal(await server.countRows('consent_chain'), 4);
  }));
