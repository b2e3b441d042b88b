// A stranger who can write to the database, and does not have APP_SECRET, changes no proof without a trace; and nothing that this page
// does looks like a forgery.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { sql, type RawBuilder } from 'kysely';

import { chainSignerOf, deriveSecrets } from '#server/secrets/secrets.ts';
import { sealConsents } from '#server/upkeep/consent-sealer.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { hashOfContent, hashOfEntry, keepChainSigned } from '#server/db/tables/consent-chain.ts';
import { verifyChain, type ChainReport } from '#server/db/across/consent-check.ts';
import { moveRows } from '#server/db/whole/move.ts';
import type { Schema } from '#server/db/schema.ts';
import { createHousekeeping } from '#server/upkeep/housekeeping.ts';
import { agree, verifyReport } from '#testing/consents.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';
import { desk } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { TEST_SECRET, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

/** Those that forgeries touch, each after those that it refers to. */
const TABLES = [
  'consent_wordings',
  'submissions',
  'leads',
  'consent_receipts',
  'withdrawals',
  'consent_chain',
  'consent_chain_head',
] as const satisfies readonly (keyof Schema)[];

/** Forgeries go around the rules of the schema, as a stranger can. */
async function asStranger(
  { database: { db, engine } }: ServerUnderTest,
  work: (db: Db) => Promise<void>,
): Promise<void> {
  await db.connection().execute(async (connection) => {
    const rules = (on: boolean) =>
      (engine === 'sqlite'
        ? sql.raw(`pragma foreign_keys = ${on ? 'on' : 'off'}`)
        : sql.raw(`set session_replication_role = ${on ? 'origin' : 'replica'}`)
      ).execute(connection);
    await rules(false);
    try {
      await work(connection);
    } finally {
      await rules(true);
    }
  });
}

type Rows = readonly (readonly [(typeof TABLES)[number], readonly object[]])[];

const rowsIn = async (db: Db): Promise<Rows> => {
  const all: [(typeof TABLES)[number], readonly object[]][] = [];
  for (const table of TABLES) all.push([table, await db.selectFrom(table).selectAll().execute()]);
  return all;
};

async function putBack(db: Db, rows: Rows): Promise<void> {
  for (const [table] of rows.toReversed()) await db.deleteFrom(table).execute();
  for (const [table, some] of rows) for (const row of some) await db.insertInto(table).values(row).execute();
}

/** Ada, Eve, Bob, Dan and Fay agree; Dan takes it back, Fay is erased. Entries 1 to 5, 6, and 7, which empties 5. */
async function history(server: ServerUnderTest): Promise<string> {
  for (const name of ['ada', 'eve', 'bob', 'dan', 'fay']) await agree(server, `${name}@example.com`);
  await server.advance(61);
  const add = ['suppress', 'add', 'dan@example.com', '--reason', 'unsubscribed'];
  assert.equal((await desk(server.service, add)).exitCode, 0);
  assert.equal((await verifyReport(server)).entries, 6);
  assert.equal((await desk(server.service, ['erase', 'fay@example.com', '--yes'])).exitCode, 0);
  const { exitCode, entries, erased, faults, head } = await verifyReport(server);
  assert.deepEqual([exitCode, entries, erased, faults], [0, 7, 1, []]);
  return `${head.position}:${head.hash}`;
}

const receiptOf = (name: string) =>
  sql`(select r.id from consent_receipts r join leads l on l.id = r.lead_id where l.email = ${`${name}@example.com`})`;
const idAt = (position: number) => sql`(select receipt_id from consent_chain where position = ${position})`;

/** Appends or replaces entries as this page would, but for the signature. */
async function rechain(
  db: Db,
  from: number,
  contentAt: Readonly<Record<number, (content: string) => string>>,
): Promise<void> {
  const rows = await db.selectFrom('consent_chain').selectAll().orderBy('position').execute();
  let previous = rows.find(({ position }) => position === from - 1)?.hash ?? '0'.repeat(64);
  for (const row of rows.filter(({ position }) => position >= from)) {
    const change = contentAt[row.position];
    const content = change && row.content !== null ? change(row.content) : row.content;
    const contentHash =
      content !== null && row.salt !== null ? hashOfContent(row.salt, content) : row.content_hash;
    previous = hashOfEntry(previous, row.position, contentHash);
    await sql`update consent_chain set content = ${content}, content_hash = ${contentHash}, hash = ${previous} where position = ${row.position}`.execute(
      db,
    );
  }
}

async function appendForged(db: Db, content: object, id: string): Promise<void> {
  const { position, hash } = await db
    .selectFrom('consent_chain')
    .select(['position', 'hash'])
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  const text = JSON.stringify(content);
  const contentHash = hashOfContent('5a17', text);
  const entry = { receipt_id: id, content: text, salt: '5a17', content_hash: contentHash, sealed_at: 0 };
  await db
    .insertInto('consent_chain')
    .values({
      ...entry,
      position: position + 1,
      hash: hashOfEntry(hash, position + 1, contentHash),
      erased_by: null,
    })
    .execute();
}

type Forgery = {
  readonly what: string;
  readonly forge: RawBuilder<unknown> | readonly RawBuilder<unknown>[] | ((db: Db) => Promise<void>);
  readonly faults: readonly string[];
  /** What the anchor finds besides. */
  readonly anchored?: readonly string[];
};

const emptied = (position: number) =>
  sql`update consent_chain set content = null, salt = null where position = ${position}`;

const FORGERIES: readonly Forgery[] = [
  // In the chain.
  {
    what: 'a content is changed',
    forge: sql`update consent_chain set content = replace(content, 'Ada', 'Eva') where position = 1`,
    faults: ['1 content'],
  },
  {
    what: 'a salt is changed',
    forge: sql`update consent_chain set salt = '00' where position = 1`,
    faults: ['1 content'],
  },
  {
    what: 'a hash of a content is changed',
    forge: sql`update consent_chain set content_hash = ${'0'.repeat(64)} where position = 3`,
    faults: ['3 link', '3 content'],
  },
  {
    what: 'a content and its hashes are made anew',
    forge: (db) => rechain(db, 3, { 3: (text) => text.replace('Analytical', 'Mechanical') }),
    faults: ['3 differs company', '7 cut'],
    anchored: ['7 anchor'],
  },
  {
    what: 'a content, its hashes and its receipt are made anew',
    forge: async (db) => {
      await sql`update consent_receipts set client_address = '203.0.113.9' where id = ${receiptOf('bob')}`.execute(
        db,
      );
      await rechain(db, 3, {
        3: (text) => text.replace('"givenFrom":"198.51.100.7"', '"givenFrom":"203.0.113.9"'),
      });
    },
    faults: ['7 cut'],
    anchored: ['7 anchor'],
  },
  {
    // Its receipt is sealed anew, as number 8.
    what: 'an entry is taken out',
    forge: sql`delete from consent_chain where position = 2`,
    faults: ['3 gap'],
  },
  {
    what: 'an entry and its receipt are taken out',
    forge: [
      sql`delete from consent_receipts where id = ${receiptOf('eve')}`,
      sql`delete from consent_chain where position = 2`,
    ],
    faults: ['3 gap'],
  },
  {
    what: 'the end is cut off, and grows again',
    forge: sql`delete from consent_chain where position > 2`,
    faults: ['7 cut'],
    anchored: ['7 anchor'],
  },
  {
    what: 'the whole chain is taken out, and grows again',
    forge: sql`delete from consent_chain`,
    faults: ['7 cut'],
    anchored: ['7 anchor'],
  },
  {
    what: 'the whole chain is taken out with its head, and grows again',
    forge: [sql`delete from consent_chain`, sql`delete from consent_chain_head`],
    faults: ['1 unsigned'],
    anchored: ['7 anchor'],
  },
  {
    what: 'the signed head is taken out',
    forge: sql`delete from consent_chain_head`,
    faults: ['1 unsigned'],
  },
  {
    what: 'the signature is changed',
    forge: sql`update consent_chain_head set signature = 'x', signed_at = 0`,
    faults: ['7 signature'],
  },
  {
    what: 'the signed head is put onto a forged entry',
    forge: async (db) => {
      await appendForged(db, { note: 'x' }, 'x');
      await sql`update consent_chain_head set position = 8, hash = (select hash from consent_chain where position = 8)`.execute(
        db,
      );
    },
    faults: ['8 foreign', '8 signature'],
  },
  {
    what: 'the ids of two receipts change places in the chain',
    forge: async (db) => {
      const [ada, eve] = [
        await sql<{ id: string }>`select receipt_id as id from consent_chain where position = 1`.execute(db),
        await sql<{ id: string }>`select receipt_id as id from consent_chain where position = 2`.execute(db),
      ];
      await sql`update consent_chain set receipt_id = 'x' where position = 1`.execute(db);
      await sql`update consent_chain set receipt_id = ${ada.rows[0]?.id} where position = 2`.execute(db);
      await sql`update consent_chain set receipt_id = ${eve.rows[0]?.id} where position = 1`.execute(db);
    },
    faults: ['1 receipt', '2 receipt'],
  },
  {
    what: 'the contents of two entries change places',
    forge: async (db) => {
      const rows = await db.selectFrom('consent_chain').selectAll().where('position', 'in', [1, 2]).execute();
      for (const { content, salt, position } of rows)
        await sql`update consent_chain set content = ${content}, salt = ${salt} where position = ${3 - position}`.execute(
          db,
        );
    },
    faults: ['1 content', '2 content'],
  },
  ...[0, -3].map((position) => ({
    what: `an entry is put in at ${position}`,
    forge: sql`insert into consent_chain (position, receipt_id, content, salt, content_hash, hash, sealed_at)
      select cast(${position} as bigint), 'x', content, salt, content_hash, hash, 0 from consent_chain where position = 1`,
    faults: [`${position} start`, `${position} receipt`],
  })),
  {
    what: 'an entry that fits is appended, and its receipt is nowhere',
    forge: (db) => appendForged(db, { receipt: 'x', email: 'x@example.com' }, 'x'),
    faults: ['8 missing', '8 unsigned'],
  },
  {
    what: 'an entry that fits is appended with a receipt',
    forge: async (db) => {
      const row = await db
        .selectFrom('consent_receipts')
        .selectAll()
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      assert.ok(row);
      const submission = { id: 'forged', email: 'ada@example.com' };
      await sql`insert into submissions select 'forged', challenge_id, name, company, email_typed, email, consent_version, client_address, user_agent, attribution, flags, created_at from submissions where id = ${row.submission_id}`.execute(
        db,
      );
      await db
        .insertInto('consent_receipts')
        .values({ ...row, id: 'forged', submission_id: 'forged' })
        .execute();
      await appendForged(db, { receipt: submission.id, email: submission.email }, 'forged');
    },
    faults: ['8 unsigned'],
  },
  {
    what: 'an entry that makes no sense is appended',
    forge: (db) => appendForged(db, { erasure: 'x', positions: [{}] }, 'x'),
    faults: ['8 foreign', '8 unsigned'],
  },
  // Emptied.
  { what: 'a proof is emptied', forge: emptied(2), faults: ['2 emptied'] },
  {
    what: 'a proof is emptied and its receipt taken out',
    forge: [sql`delete from consent_receipts where id = ${receiptOf('eve')}`, emptied(2)],
    faults: ['2 emptied'],
  },
  {
    what: 'a proof is emptied, its lead taken out and another erasure named',
    forge: [
      sql`delete from consent_receipts where id = ${idAt(2)}`,
      sql`delete from leads where email = 'eve@example.com'`,
      emptied(2),
      sql`update consent_chain set erased_by = 7 where position = 2`,
    ],
    faults: ['2 emptied'],
  },
  {
    what: 'a proof is emptied, and an erasure forged that names it',
    forge: async (db) => {
      await sql`delete from consent_receipts where id = ${idAt(2)}`.execute(db);
      await emptied(2).execute(db);
      await sql`update consent_chain set erased_by = 8 where position = 2`.execute(db);
      await appendForged(db, { erasure: 'x', positions: [2], erasedAt: '2026-11-20T12:00:00.000Z' }, 'x');
    },
    faults: ['8 unsigned'],
  },
  {
    what: 'an erasure is changed, to name one more',
    forge: [
      sql`delete from consent_receipts where id = ${idAt(2)}`,
      emptied(2),
      sql`update consent_chain set erased_by = 7 where position = 2`,
      sql`update consent_chain set content = replace(content, '[5]', '[2,5]') where position = 7`,
    ],
    faults: ['2 emptied', '5 emptied', '7 content'],
  },
  {
    what: 'an erasure is emptied',
    forge: emptied(7),
    faults: ['5 emptied', '7 emptied'],
  },
  {
    what: 'an erasure is no longer named',
    forge: sql`update consent_chain set erased_by = null where position = 5`,
    faults: ['5 emptied'],
  },
  {
    what: 'the receipt of an erased proof is put back',
    forge: sql`insert into consent_receipts select ${idAt(5)}, lead_id, 'nothing', consent_version, given_at, verified_at, client_address, verified_from_address, user_agent, same_browser
      from consent_receipts where id = ${receiptOf('ada')}`,
    faults: ['5 emptied'],
  },
  {
    what: 'an erased proof is filled again',
    forge: sql`update consent_chain set content = '{}', salt = '00' where position = 5`,
    faults: ['5 content', '5 returned'],
  },
  // In the rows.
  ...(
    [
      ['given_at', sql`given_at - 1`, 'givenAt'],
      ['verified_at', sql`verified_at + 3600000`, 'codeEnteredAt'],
      ['verified_at', sql`9223372036854775807`, 'codeEnteredAt'],
      ['client_address', sql`'203.0.113.9'`, 'givenFrom'],
      ['verified_from_address', sql`'203.0.113.9'`, 'codeEnteredFrom'],
      ['user_agent', sql`null`, 'browser'],
      ['same_browser', sql`null`, 'sameBrowser'],
      ['lead_id', sql`(select id from leads where email = 'ada@example.com')`, 'email'],
    ] as const
  ).map(([column, value, field]) => ({
    what: `${column} of a receipt becomes another (${field})`,
    forge: sql`update consent_receipts set ${sql.ref(column)} = ${value} where id = ${receiptOf('eve')}`,
    faults: [`2 differs ${field}`],
  })),
  {
    what: 'a receipt gets another wording',
    forge: [
      sql`insert into consent_wordings values ('forged', 'I agree to everything.', 0)`,
      sql`update consent_receipts set consent_version = 'forged' where id = ${receiptOf('eve')}`,
    ],
    faults: ['2 differs wording'],
  },
  {
    what: 'the text of a wording is changed',
    forge: sql`update consent_wordings set text = 'I agree to everything.' where version = (select consent_version from consent_receipts where id = ${receiptOf('eve')})`,
    faults: [1, 2, 3, 4].map((position) => `${position} differs wording`),
  },
  {
    what: 'the address of a lead is changed',
    forge: sql`update leads set email = 'eva@example.com' where email = 'eve@example.com'`,
    faults: ['2 differs email'],
  },
  {
    what: 'the form of a receipt is changed',
    forge: sql`update submissions set company = 'x' where email = 'eve@example.com'`,
    faults: ['2 differs company'],
  },
  {
    what: 'a receipt is taken out',
    forge: sql`delete from consent_receipts where id = ${receiptOf('eve')}`,
    faults: ['2 missing'],
  },
  {
    what: 'a receipt gets another id',
    forge: sql`update consent_receipts set id = 'forged' where id = ${receiptOf('eve')}`,
    faults: ['2 missing'],
  },
  {
    what: 'a withdrawal is taken out',
    forge: sql`delete from withdrawals`,
    faults: ['6 missing'],
  },
  ...(
    [
      ['way', sql`'one-click'`, 'way'],
      ['withdrawn_at', sql`withdrawn_at + 86400000`, 'withdrawnAt'],
      ['client_address', sql`'203.0.113.9'`, 'withdrawnFrom'],
      ['user_agent', sql`'Browser/8'`, 'browser'],
      ['lead_id', sql`(select id from leads where email = 'ada@example.com')`, 'email'],
    ] as const
  ).map(([column, value, field]) => ({
    what: `${column} of a withdrawal becomes another`,
    forge: sql`update withdrawals set ${sql.ref(column)} = ${value}`,
    faults: [`6 differs ${field}`],
  })),
  {
    what: 'a receipt is put in that can never be sealed',
    forge: sql`insert into consent_receipts select 'forged', 'nobody', 'nothing', consent_version, given_at, verified_at - 3600000, '', '', null, 1 from consent_receipts where id = ${receiptOf('eve')}`,
    faults: [' unsealed'],
  },
];

const run = async (db: Db, { forge }: Forgery): Promise<void> => {
  if (typeof forge === 'function') return forge(db);
  for (const statement of Array.isArray(forge)
    ? (forge as readonly RawBuilder<unknown>[])
    : [forge as RawBuilder<unknown>])
    await statement.execute(db);
};

for (const engine of ENGINES) {
  describe(`the signed chain of consents on ${engine}`, () => {
    it('shows each forgery by its place and kind, with and without an anchor', () =>
      withServer({ engine }, async (server) => {
        const anchor = await history(server);
        const { db } = server.database;
        const before = await rowsIn(db);
        for (const forgery of FORGERIES) {
          await asStranger(server, (stranger) => run(stranger, forgery));
          const { faults, exitCode, notes } = await verifyReport(server);
          const anchored = await verifyReport(server, '--anchor', anchor);
          const say = (list: readonly string[]) => `${forgery.what}: ${list.join(', ')}`;
          assert.deepEqual(say(faults), say(forgery.faults));
          assert.deepEqual(say(anchored.faults), say([...forgery.faults, ...(forgery.anchored ?? [])]));
          assert.deepEqual([exitCode, anchored.exitCode], [1, 1], forgery.what);
          assert.match(notes, /Compare with a backup/);
          await asStranger(server, (stranger) => putBack(stranger, before));
          assert.deepEqual((await verifyReport(server, '--anchor', anchor)).faults, []);
        }
      }));

    it('shows an older copy of its entries and its head by the anchor alone', () =>
      withServer({ engine }, async (server) => {
        for (const name of ['ada', 'eve']) await agree(server, `${name}@example.com`);
        await server.advance(61);
        await verifyReport(server);
        const { db } = server.database;
        const copy = (await rowsIn(db)).slice(-2);
        await agree(server, 'bob@example.com');
        await server.advance(61);
        const { head } = await verifyReport(server);
        await asStranger(server, async (stranger) => {
          await putBack(stranger, copy);
          await sql`update consent_receipts set client_address = '203.0.113.9' where id = ${receiptOf('bob')}`.execute(
            stranger,
          );
        });
        assert.deepEqual((await verifyReport(server)).faults, []);
        const anchored = await verifyReport(server, '--anchor', `${head.position}:${head.hash}`);
        assert.deepEqual([anchored.exitCode, anchored.faults], [1, ['3 anchor']]);
      }));

    it('has no fault after all that this page does', () =>
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
        assert.equal(await sealConsents(service, { whole: true }), 0);
        assert.equal(await sealConsents(newOnly, { whole: true }), 1);
        assert.deepEqual((await verifyReport({ service: newOnly })).faults, []);

        // A secret that stays unknown keeps no consent out of the chain.
        await agree(server, 'bob@example.com');
        await server.advance(3_601);
        assert.equal(await sealConsents(service, { whole: true }), 1);
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
