// A stranger who can write to the database, and does not have APP_SECRET, changes no proof without a trace.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { sql, type RawBuilder } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
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
import { ENGINES } from '#testing/databases.ts';
import { withServer } from '#testing/server-under-test.ts';

type Forgery = {
  readonly what: string;
  readonly forge: RawBuilder<unknown> | readonly RawBuilder<unknown>[] | ((db: Db) => Promise<void>);
  readonly faults: readonly string[];
  /** What the anchor finds besides. */
  readonly anchored?: readonly string[];
};

const idAt = (position: number) => sql`(select receipt_id from consent_chain where position = ${position})`;

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
      const copied = await db
        .selectFrom('submissions')
        .selectAll()
        .where('id', '=', row.submission_id)
        .executeTakeFirstOrThrow();
      await db
        .insertInto('submissions')
        .values({ ...copied, id: 'forged' })
        .execute();
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
  });
}
