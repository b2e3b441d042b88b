// The signed chain of consents: nothing that this page does looks like a forgery, whatever secret, release or copy is at work.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { sql } from 'kysely';

import { chainSignerOf, deriveSecrets } from '#server/secrets/secrets.ts';
import { sealConsents } from '#server/upkeep/consent-sealer.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { keepChainSigned } from '#server/db/tables/consent-chain.ts';
import { verifyChain, type ChainReport } from '#server/db/across/consent-check.ts';
import { moveRows } from '#server/db/whole/move.ts';
import { createHousekeeping } from '#server/upkeep/delete-expired-rows.ts';
import { agree, verifyReport } from '#testing/consents.ts';
import {
  asStranger,
  putBack,
  history,
  rechain,
  appendForged,
  rowsIn,
  receiptOf,
  emptied,
} from '#testing/consent-forgery.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';
import { desk } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { TEST_SECRET, withServer } from '#testing/server-under-test.ts';

for (const engine of ENGINES) {
  describe(`the signed chain of consents on ${engine}`, () => {
    it('has no fault after everything that this page does', () =>
      withServer({ engine }, async (server) => {
        const { database, service, config, now } = server;
        await history(server);
        // What was asked for again, and corrected.
        await server.advance(3_600);
        await agree(server, 'ada@example.com', 2);
        await agree(server, 'dan@example.com', 2);
        await agree(server, 'fay@example.com', 2);
        const correct = ['correct', 'ada@example.com', '--name', 'Ada King', '--company', 'Lovelace'];
        assert.equal((await desk(service, correct)).exitCode, 0);
        // What waits for the answer of a mail server is sealed later, and what was withdrawn meanwhile as well.
        await database.db.updateTable('outbox').set({ state: 'queued' }).execute();
        const add = ['suppress', 'add', 'dan@example.com', '--reason', 'complained'];
        await desk(service, add);
        assert.deepEqual((await verifyReport(server)).faults, []);
        await database.db.updateTable('outbox').set({ state: 'sent' }).execute();
        await server.advance(61);
        const before = await verifyReport(server);
        assert.deepEqual([before.faults, before.entries >= 10], [[], true]);
        // A copy, as a backup or a move to another database makes it.
        const older = await freshDatabase('sqlite');
        try {
          await moveRows(database, older, () => {});
          // Mail, codes and forms expire.
          server.setClock(now() + 40 * 86_400_000);
          await createHousekeeping({ database, config, clock: now, onExpired: () => {} })();
          assert.equal(await server.countRows('outbox'), 0);
          await agree(server, 'gus@example.com');
          await server.advance(61);
          await verifyReport(server);
          for (const name of ['ada', 'dan', 'gus'])
            assert.equal((await desk(service, ['erase', `${name}@example.com`, '--yes'])).exitCode, 0);
          const anchor = `${before.head.position}:${before.head.hash}`;
          const after = await verifyReport(server, '--anchor', anchor);
          assert.deepEqual([after.exitCode, after.faults, after.accepted], [0, [], []]);
          assert.ok(after.erased >= 5);

          const check = { signer: chainSignerOf(service.secrets), now: now() };
          assert.deepEqual((await verifyChain(older.db, check)).faults, []);
          const restored = await verifyChain(older.db, { ...check, anchor: after.head });
          assert.deepEqual(
            restored.faults.map(({ kind }) => kind),
            ['anchor'],
          );
        } finally {
          await older.close();
        }
      }));

    it('is signed by the newest secret, and a process that does not know it yet leaves sealing to the others', () =>
      withServer({ engine }, async (server) => {
        const { database, service, now } = server;
        await agree(server, 'ada@example.com');
        await server.advance(61);
        assert.deepEqual((await verifyReport(server)).faults, []);
        const secrets = deriveSecrets(['the new secret, long enough for anybody', TEST_SECRET]);
        const changed = { ...service, secrets };
        await keepChainSigned(database, chainSignerOf(secrets), now());
        const newOnly = { ...service, secrets: deriveSecrets(['the new secret, long enough for anybody']) };
        for (const one of [changed, newOnly])
          assert.deepEqual((await verifyReport({ service: one })).faults, []);

        await agree(server, 'eve@example.com');
        await server.advance(61);
        assert.equal(await sealConsents(service), 0);
        assert.equal(await sealConsents(newOnly), 1);
        assert.deepEqual((await verifyReport({ service: newOnly })).faults, []);

        // A secret that stays unknown keeps no consent out of the chain.
        await agree(server, 'bob@example.com');
        await server.advance(3_601);
        assert.equal(await sealConsents(service), 1);
        assert.deepEqual((await verifyReport({ service: newOnly })).faults, ['3 unsigned']);
        assert.deepEqual((await verifyReport(server)).faults, ['2 signature', '3 unsigned']);
        assert.match((await desk(service, ['consent', 'anchor'])).notes, /This head is not signed/);
      }));

    it('of the release before is accepted once; later faults stand out', () =>
      withServer({ engine }, async (server) => {
        const { database, service } = server;
        const { db } = database;
        await history(server);
        // What the release before left: no signature, and an erasure without an entry.
        await asStranger(server, async (stranger) => {
          await sql`delete from consent_chain_head`.execute(stranger);
          await sql`delete from consent_receipts where id = ${receiptOf('eve')}`.execute(stranger);
          await emptied(2).execute(stranger);
        });
        await keepChainSigned(database, chainSignerOf(service.secrets), server.now());
        assert.deepEqual((await verifyReport(server)).faults, ['2 emptied', '1 unsigned']);
        const refused = await desk(service, ['consent', 'accept']);
        assert.deepEqual([refused.exitCode, await server.countRows('consent_chain')], [1, 7]);
        const done = await desk(service, ['consent', 'accept', '--yes']);
        assert.equal(done.exitCode, 0, done.notes);
        const accepted = ['1 unsigned', '2 emptied'];
        const after = await verifyReport(server);
        assert.deepEqual([after.exitCode, after.faults, after.accepted], [0, [], accepted]);
        assert.match(
          (await desk(service, ['consent', 'verify'])).out,
          /^Accepted: Entry 2: its content is gone/m,
        );
        assert.match((await desk(service, ['consent', 'accept', '--yes'])).notes, /nothing to accept/);

        // From here on it is signed.
        await agree(server, 'gus@example.com');
        await server.advance(61);
        assert.deepEqual((await verifyReport(server)).faults, []);
        const moveBob = (to: string) =>
          sql`update consent_receipts set client_address = ${to} where id = ${receiptOf('bob')}`.execute(db);
        await moveBob('203.0.113.9');
        assert.deepEqual((await verifyReport(server)).faults, ['3 differs givenFrom']);
        assert.equal((await desk(service, ['consent', 'accept', '--yes'])).exitCode, 0);
        assert.deepEqual((await verifyReport(server)).accepted, [...accepted, '3 differs']);
        await moveBob('203.0.113.10');
        assert.deepEqual((await verifyReport(server)).faults, ['3 differs givenFrom']);
        await moveBob('203.0.113.9');

        // An acceptance that a stranger appends accepts nothing.
        await asStranger(server, async (stranger) => {
          await moveBob('203.0.113.10');
          const { out } = await desk(service, ['consent', 'verify', '--json']);
          const { faults } = JSON.parse(out) as ChainReport;
          await appendForged(stranger, { accepted: 'accepted-3', faults, acceptedAt: '' }, 'accepted-3');
        });
        assert.deepEqual((await verifyReport(server)).faults, ['3 differs givenFrom', '11 unsigned']);
      }));

    it('is exported as it was sealed, with what does not verify', () =>
      withServer({ engine }, async (server) => {
        const { db } = server.database;
        await history(server);
        const before = await rowsIn(db);
        const exported = (name: string) =>
          inFolder(async (folder) => {
            const file = path.join(folder, name);
            const { exitCode, notes } = await desk(server.service, [
              'consent',
              'export',
              `${name}@example.com`,
              '--out',
              file,
            ]);
            const page = readFileSync(`${file}.html`, 'utf8');
            const { faults, proofs } = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as {
              faults: string[];
              proofs: { proof: { givenFrom: string } }[];
            };
            last = { exitCode, notes, page, faults, from: proofs.map(({ proof }) => proof.givenFrom) };
          });
        let last = { exitCode: 0, notes: '', page: '', faults: [''], from: [''] };
        for (const [forge, faults, from, eve] of [
          // The row: what was sealed is printed.
          [
            sql`update consent_receipts set client_address = '203.0.113.9' where id = ${receiptOf('ada')}`,
            ['Entry 1: its receipt or withdrawal was changed (givenFrom).'],
            ['198.51.100.7'],
            0,
          ],
          // Whom it belongs to.
          [
            sql`update leads set email = 'ida@example.com' where email = 'ada@example.com'`,
            ['Entry 1: its receipt or withdrawal was changed (email).'],
            ['198.51.100.7'],
            0,
          ],
          // The proof: forged words are not printed.
          [
            sql`update consent_chain set content = replace(content, '198.51.100.7', '203.0.113.9') where position = 1`,
            ['Entry 1: its content was changed.'],
            [],
            0,
          ],
          // The chain behind it: nothing vouches for what comes before.
          [
            async (stranger: Db) =>
              rechain(stranger, 1, { 1: (text) => text.replace('"browser":"Browser/7"', '"browser":null') }),
            [
              'Entry 1: its receipt or withdrawal was changed (browser).',
              'Entry 7: it was the newest one, signed by this page, and is gone or another now.',
            ],
            ['198.51.100.7'],
            1,
          ],
        ] as const) {
          await asStranger(server, async (stranger) => {
            if (typeof forge === 'function') await forge(stranger);
            else await forge.execute(stranger);
          });
          await exported('ada');
          assert.deepEqual([last.exitCode, last.faults, last.from], [1, faults, from]);
          assert.match(last.notes, /do not prove the consent of ada@example\.com/);
          assert.match(last.page, /This does not verify/);
          assert.doesNotMatch(last.page, /203\.0\.113\.9/);
          await exported('eve');
          assert.equal(last.exitCode, eve);
          await asStranger(server, (stranger) => putBack(stranger, before));
        }
        await exported('ada');
        assert.deepEqual([last.exitCode, last.faults, last.from], [0, [], ['198.51.100.7']]);
        assert.doesNotMatch(last.page, /does not verify/);
      }));
  });
}
