// Consent that can be proved: every receipt is in the chain, and nothing can be done to the chain without a trace.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

import { sql } from 'kysely';

import { createSealer, sealConsents } from '#server/upkeep/consent-sealer.ts';
import { openDatabase } from '#server/db/engine/connect.ts';
import { unsealedPages } from '#server/db/across/consent-sealing.ts';
import { lockChain } from '#server/db/tables/consent-chain.ts';
import { countLockWaiters } from '#testing/address-lock.ts';
import { agree, verifyReport as report } from '#testing/consents.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';
import { desk } from '#testing/desk.ts';
import { withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

for (const engine of ENGINES) {
  describe(`the chain of consents on ${engine}`, () => {
    it('holds each proof with all it needs, in the order of their sealing', () =>
      withServer({ engine }, async (server) => {
        await agree(server, 'ada@example.com');
        await agree(server, 'eve@example.com');
        await server.advance(60);
        await agree(server, 'ada@example.com', 2);
        const { exitCode, entries, erased, head, faults } = await report(server);
        assert.deepEqual(
          { exitCode, entries, erased, faults, at: head.position },
          {
            exitCode: 0,
            entries: 3,
            erased: 0,
            faults: [],
            at: 3,
          },
        );
        assert.equal((await report(server)).entries, 3, 'what is sealed is not sealed again');
        const progress: string[] = [];
        await desk(server.service, ['consent', 'verify'], { progress: (line) => void progress.push(line) });
        assert.deepEqual(progress, ['3 entries checked …']);

        const folder = mkdtempSync(path.join(os.tmpdir(), 'consent-'));
        try {
          const out = path.join(folder, 'ada');
          const answer = await desk(server.service, ['consent', 'export', 'Ada@example.com', '--out', out]);
          assert.equal(answer.exitCode, 0, answer.notes);
          const { proofs } = JSON.parse(readFileSync(`${out}.json`, 'utf8')) as {
            proofs: { position: number; proof: Record<string, unknown> }[];
          };
          assert.deepEqual(
            proofs.map(({ position }) => position),
            [1, 3],
          );
          const { mail, ...proof } = proofs[0]!.proof;
          const { version, text } = server.campaign.consent;
          const row = await server.database.db
            .selectFrom('consent_receipts')
            .select('id')
            .orderBy('id')
            .executeTakeFirstOrThrow();
          assert.deepEqual(proof, {
            receipt: row.id,
            email: 'ada@example.com',
            name: 'Ada Lovelace',
            company: 'Analytical Engines',
            wording: { version, text },
            page: server.config.publicUrl,
            givenAt: '2026-11-20T12:00:00.000Z',
            givenFrom: '198.51.100.7',
            browser: 'Browser/7',
            codeEnteredAt: '2026-11-20T12:00:20.000Z',
            codeEnteredFrom: '198.51.100.7',
            sameBrowser: true,
          });
          const { messageId, answer: said } = mail as { messageId: string; answer: string };
          assert.equal(messageId, server.inbox.mails[0]?.parsed.messageId);
          assert.match(said, /^250 /);
          const page = readFileSync(`${out}.html`, 'utf8');
          assert.match(page, /198\.51\.100\.7/);
          assert.match(page, /Hash of this entry/);
          assert.doesNotMatch(page, /<script|https?:\/\/(?!localhost)/);
        } finally {
          rmSync(folder, { recursive: true });
        }
      }));

    it('stays whole when a person is erased, and holds nothing about that person', () =>
      withServer({ engine }, async (server) => {
        for (const name of ['ada', 'eve', 'bob']) await agree(server, `${name}@example.com`);
        const anchor = (await desk(server.service, ['consent', 'anchor'])).out;
        assert.match(anchor, /^3:[0-9a-f]{64} 2026-11-20T/);
        assert.equal((await desk(server.service, ['erase', 'eve@example.com', '--yes'])).exitCode, 0);
        const { exitCode, entries, erased, faults } = await report(server, '--anchor', anchor);
        assert.deepEqual(
          { exitCode, entries, erased, faults },
          { exitCode: 0, entries: 4, erased: 1, faults: [] },
        );
        const rows = await server.database.db.selectFrom('consent_chain').selectAll().execute();
        assert.doesNotMatch(JSON.stringify(rows), /eve@/);
        const gone = await desk(server.service, ['consent', 'export', 'eve@example.com', '--out', 'x']);
        assert.equal(gone.exitCode, 1);
      }));
  });
}

it('two processes that seal at once make one chain', () =>
  withServer({ engine: 'postgres' }, async (server) => {
    for (let n = 0; n < 12; n += 1) await agree(server, `lead${n}@example.com`);
    const others = Array.from({ length: 4 }, () => openDatabase(server.config.database, () => {}));
    try {
      const sealed = await Promise.all(
        [server.database, ...others].map((database) => sealConsents({ ...server.service, database })),
      );
      assert.equal(
        sealed.reduce((sum, count) => sum + count, 0),
        12,
      );
      const { entries, faults } = await report(server);
      assert.deepEqual([entries, faults], [12, []]);
    } finally {
      for (const { close } of others) await close();
    }
  }));

it('an anchor that was copied badly is refused, and nothing is checked', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const { exitCode, out, notes } = await desk(server.service, ['consent', 'verify', '--anchor', '12']);
    assert.deepEqual([exitCode, out], [2, '']);
    assert.match(notes, /An anchor is what "consent anchor" prints/);
  }));

it('a person erased while the consent is being sealed is not in the chain afterwards', () =>
  withServer({ engine: 'postgres' }, async (server) => {
    await agree(server, 'ada@example.com');
    await server.advance(60);
    const { db } = server.database;
    const sealing = openDatabase(server.config.database, () => {});
    try {
      let erasing: ReturnType<typeof desk> | undefined;
      await sealing.db.transaction().execute(async (tx) => {
        await lockChain(tx, 'postgres');
        erasing = desk(server.service, ['erase', 'ada@example.com', '--yes']);
        await until(async () => (await countLockWaiters(db)) > 0);
        // What the sealer had read before.
        const { id } = await tx.selectFrom('consent_receipts').select('id').executeTakeFirstOrThrow();
        const entry = { position: 1, receipt_id: id, content: 'ada@example.com', salt: 's', sealed_at: 0 };
        await tx
          .insertInto('consent_chain')
          .values({ ...entry, content_hash: 'c', hash: 'h' })
          .execute();
      });
      assert.equal((await erasing)?.exitCode, 0);
      const rows = await db.selectFrom('consent_chain').selectAll().orderBy('position').execute();
      assert.equal(rows[0]?.content, null);
      assert.doesNotMatch(JSON.stringify(rows), /ada@/);
    } finally {
      await sealing.close();
    }
  }));

it('consents that could not be sealed for a long while are sealed later', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const { db } = server.database;
    const seal = createSealer(server.service, () => false);
    await seal();
    await agree(server, 'ada@example.com');
    await sql`alter table consent_chain rename to consent_chain_away`.execute(db);
    await assert.rejects(seal(), /consent_chain/);
    await sql`alter table consent_chain_away rename to consent_chain`.execute(db);
    await server.advance(3_600);
    await seal();
    assert.equal(await server.countRows('consent_chain'), 1);
  }));

it('looking for new consents costs as much with a long chain as with a short one', async () => {
  const { db, close } = await freshDatabase('postgres');
  try {
    const id = sql`lpad(to_hex(n), 12, '0')`;
    const series = sql`generate_series(1, ${sql.lit(20_000)}) n`;
    await db.transaction().execute(async (tx) => {
      // Rows that refer to nobody.
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`insert into consent_receipts select ${id}, 'lead', ${id}, 'wording', 0, 0, '', '', null, 1 from ${series}`.execute(
        tx,
      );
      await sql`insert into consent_chain select n, ${id}, '', '', '', '', 0 from ${series}`.execute(tx);
    });
    await sql`vacuum analyze consent_receipts, consent_chain`.execute(db);
    await db.transaction().execute(async (tx) => {
      const after = (19_000).toString(16).padStart(12, '0');
      assert.deepEqual(await unsealedPages(tx, after).next(), { done: false, value: [] });
      const { rows } = await sql<{ read: number }>`
        select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables where relname = 'consent_chain'
      `.execute(tx);
      const read = Number(rows[0]?.read);
      assert.ok(read > 0 && read <= 1_100, `${read} entries were read for 1,000`);
    });
  } finally {
    await close();
  }
});
