import assert from 'node:assert/strict';
import { it } from 'node:test';

import { keepChainSigned, lockChain } from '#server/consent/chain.ts';
import { verifyChain } from '#server/consent/check.ts';
import { sealConsents } from '#server/consent/sealer.ts';
import { moveRows } from '#server/db/backup/move.ts';
import { deriveSecrets } from '#server/secrets/secrets.ts';
import { countLockWaiters } from '#testing/address-lock.ts';
import { agree, errorText, exportProof, verifyReport } from '#testing/consents.ts';
import { freshDatabase, openTestDatabase } from '#testing/databases.ts';
import { desk, refused, succeeded } from '#testing/desk.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import { TEST_SECRET, withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

onEachEngine('consent chain', ({ both: test }) => {
  test('the consent chain proves a consent with its wording, version, times and IP addresses', async (server) => {
    await agree(server, 'ada@example.com');
    await agree(server, 'eve@example.com');
    await server.advance(60);
    await agree(server, 'ada@example.com', 2);
    const { exitCode, entries, erased, head, errors } = await verifyReport(server);
    assert.deepEqual([exitCode, entries, erased, errors, head.position], [0, 3, 0, [], 3]);
    const progress: string[] = [];
    await desk(server.service, ['consent', 'verify'], { progress: (line) => void progress.push(line) });
    assert.deepEqual(progress, ['3 entries checked …'], 'nothing is sealed twice');

    const proof = await exportProof(server, 'Ada@example.com');
    assert.equal(proof.exitCode, 0, proof.notes);
    const [first, second, ...others] = proof.entries;
    assert.deepEqual([first?.position, second?.position, others], [1, 3, []]);
    const { db } = server.database;
    const row = await db.selectFrom('consent_receipts').select('id').orderBy('id').executeTakeFirst();
    assert.deepEqual([first?.kind, first?.row_id], ['consent', row?.id]);
    const { mailed_at: mailedAt, reply, ...content } = first!.content;
    assert.deepEqual(content, {
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      company: 'Analytical Engines',
      answers: null,
      purpose: 'guide',
      consent_version: server.campaign.consent.version,
      wording: server.campaign.consent.text,
      given_at: '2026-11-20T12:00:00.000Z',
      client_address: '198.51.100.7',
      user_agent: 'Browser/7',
      verified_at: '2026-11-20T12:00:20.000Z',
      verified_from_address: '198.51.100.7',
      same_browser: 1,
      page: server.config.publicUrl,
      message_id: server.inbox.mails[0]?.parsed.messageId,
    });
    assert.match(String(mailedAt), /^2026-11-20T12:00/);
    assert.match(String(reply), /^250 /);
    const { page } = proof;
    assert.match(page, /198\.51\.100\.7/);
    assert.match(page, /Hash of the content/);
    assert.doesNotMatch(page, /<script|https?:\/\/(?!localhost)/);
  });

  test('the consent chain has no errors after any action, and nothing about erased people', async (server) => {
    const { database, service, now } = server;
    const { db } = database;
    const suppressDan = () =>
      desk(service, ['suppress', 'add', 'dan@example.com', '--reason', 'unsubscribed']);
    for (const name of ['ada', 'dan', 'fay']) await agree(server, `${name}@example.com`);
    await suppressDan();
    await server.advance(3_600);
    for (const name of ['ada', 'dan', 'fay']) await agree(server, `${name}@example.com`, 2);
    const correct = ['correct', 'ada@example.com', '--name', 'Ada King', '--company', 'Lovelace'];
    await succeeded(desk(service, correct));
    await db.updateTable('outbox').set({ state: 'queued' }).execute();
    await suppressDan();
    assert.deepEqual((await verifyReport(server)).errors, []);
    await db.updateTable('outbox').set({ state: 'sent' }).execute();
    await server.advance(61);
    const before = await verifyReport(server);
    assert.deepEqual([before.errors, before.entries], [[], 8]);
    const anchor = (await desk(service, ['consent', 'anchor'])).out;
    assert.match(anchor, /^8:[0-9a-f]{64} 2026-11-20T/);
    await using older = await freshDatabase('sqlite');
    await moveRows(database, older, () => {});
    server.setClock(now() + 40 * 86_400_000);
    await housekeeperOf(server).runHousekeeping();
    assert.equal(await server.countRows('outbox'), 0);
    await agree(server, 'gus@example.com');
    await server.advance(61);
    await verifyReport(server);
    for (const name of ['ada', 'dan', 'gus'])
      await succeeded(desk(service, ['erase', `${name}@example.com`, '--yes']));
    const after = await verifyReport(server, '--anchor', anchor);
    assert.deepEqual([after.exitCode, after.errors, after.accepted, after.erased], [0, [], [], 7]);
    const rows = await db.selectFrom('consent_chain').selectAll().execute();
    assert.doesNotMatch(JSON.stringify(rows), /(?:ada|dan|gus)@/);
    const gone = await desk(service, ['consent', 'export', 'ada@example.com', '--out', 'x']);
    assert.equal(gone.exitCode, 1);

    const check = { secrets: service.secrets, now: now() };
    assert.deepEqual((await verifyChain(older.db, check)).errors, []);
    const restored = await verifyChain(older.db, { ...check, anchor: after.head });
    assert.match(restored.errors.map(errorText).join(), /^\d+: the anchored entry [^,]+$/);
  });

  test('the consent chain is signed only by processes with the newest secret', async (server) => {
    const { database, service, now } = server;
    await agree(server, 'ada@example.com');
    await server.advance(61);
    assert.deepEqual((await verifyReport(server)).errors, []);
    const secrets = deriveSecrets(['the new secret, long enough for anybody', TEST_SECRET]);
    await keepChainSigned(database.db, secrets, now());
    const newOnly = { ...service, secrets: deriveSecrets(['the new secret, long enough for anybody']) };
    for (const one of [{ ...service, secrets }, newOnly])
      assert.deepEqual((await verifyReport({ service: one })).errors, []);

    await agree(server, 'eve@example.com');
    await server.advance(61);
    assert.equal((await sealConsents(service)).sealed, 0);
    assert.equal((await sealConsents(newOnly)).sealed, 1);
    assert.deepEqual((await verifyReport({ service: newOnly })).errors, []);

    await agree(server, 'bob@example.com');
    await server.advance(3_601);
    assert.equal((await sealConsents(service)).sealed, 1);
    const unsigned = '3: a signature | none from this entry on';
    assert.deepEqual((await verifyReport({ service: newOnly })).errors, [unsigned]);
    const { errors } = await verifyReport(server);
    assert.deepEqual(errors, ['2: a signature made with APP_SECRET | a different signature', unsigned]);
    assert.match((await desk(service, ['consent', 'anchor'])).notes, /This head is not signed/);
  });
});

it('a mistyped anchor is refused before the consent chain is checked', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const mistyped = desk(server.service, ['consent', 'verify', '--anchor', '12']);
    await refused(mistyped, /The anchor is invalid\. Use the output of "consent anchor"/, 2);
  }));

it('several processes that seal at once produce one consent chain', () =>
  withServer({ engine: 'postgres' }, async (server) => {
    for (let n = 0; n < 12; n += 1) await agree(server, `lead${n}@example.com`);
    await using opened = new AsyncDisposableStack();
    const others = Array.from({ length: 4 }, () => opened.use(openTestDatabase(server.config.database)));
    const rounds = await Promise.all(
      [server.database, ...others].map((database) => sealConsents({ ...server.service, database })),
    );
    assert.equal(
      rounds.reduce((sum, { sealed }) => sum + sealed, 0),
      12,
    );
    const { entries, errors } = await verifyReport(server);
    assert.deepEqual([entries, errors], [12, []]);
  }));

it('the consent chain contains nothing about a person erased during sealing', () =>
  withServer({ engine: 'postgres' }, async (server) => {
    await agree(server, 'ada@example.com');
    await server.advance(60);
    const { db } = server.database;
    await using sealing = openTestDatabase(server.config.database);
    let erasing: ReturnType<typeof desk> | undefined;
    await sealing.db.transaction().execute(async (tx) => {
      await lockChain(tx);
      erasing = desk(server.service, ['erase', 'ada@example.com', '--yes']);
      await until(async () => (await countLockWaiters(db)) > 0);
      const { id } = await tx.selectFrom('consent_receipts').select('id').executeTakeFirstOrThrow();
      const entry = {
        position: 1,
        kind: 'consent' as const,
        row_id: id,
        content: 'ada@example.com',
        salt: 's',
      };
      await tx
        .insertInto('consent_chain')
        .values({ ...entry, content_hash: 'c', previous: 'p', hash: 'h', sealed_at: 0 })
        .execute();
    });
    assert.equal((await erasing)?.exitCode, 0);
    const rows = await db.selectFrom('consent_chain').selectAll().orderBy('position').execute();
    assert.equal(rows[0]?.content, null);
    assert.doesNotMatch(JSON.stringify(rows), /ada@/);
  }));
