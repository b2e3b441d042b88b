// A stranger with write access to the database but without APP_SECRET cannot change a proof unnoticed.
import assert from 'node:assert/strict';

import { sql } from 'kysely';

import { CommandFailure } from '#desk/command-failure.ts';
import { hashOfContent, hashOfEntry, type ChainEntry } from '#server/consent/chain.ts';
import { verifyChain, type ChainReport } from '#server/consent/check.ts';
import { sealConsents } from '#server/consent/sealer.ts';
import type { Db } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/all-tables.ts';
import { agree, errorText, exportProof, verifyReport } from '#testing/consents.ts';
import { desk } from '#testing/desk.ts';
import { type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const gap = (position: number, missing: number) => `${position}: entry ${missing} | entry ${position}`;
const link = (position: number) =>
  `${position}: the hash that follows entry ${position - 1} | a different hash`;
const content = (position: number) => `${position}: the sealed content | different content`;
const emptied = (position: number) => `${position}: its content, or an erasure | neither`;
const returned = (position: number, what: string) =>
  `${position}: nothing after its erasure in entry 7 | ${what}`;
const missing = (position: number, kind = 'consent') => `${position}: its ${kind} | none`;
const differs = (position: number, fields: string, kind = 'consent') =>
  `${position}: its ${kind} as sealed | different values (${fields})`;
const unsigned = (position: number) => `${position}: a signature | none from this entry on`;
const signature = (position: number) =>
  `${position}: a signature made with APP_SECRET | a different signature`;
const cut = (position: number) => `${position}: the entry signed as the newest | none or a different entry`;
const anchor = (position: number) => `${position}: the anchored entry | none or a different entry`;

type Forging = string | ((db: Db) => Promise<unknown>);

const idOf = (name: string) =>
  `(select r.id from consent_receipts r join leads l on l.id = r.lead_id where l.email = '${name}@example.com')`;
const rowAt = (position: number) => `(select row_id from consent_chain where position = ${position})`;
const entry = (position: number, set: string) =>
  `update consent_chain set ${set} where position = ${position}`;
const remove = (where: string) => `delete from consent_chain where ${where}`;
const receipt = (name: string, set: string) => `update consent_receipts set ${set} where id = ${idOf(name)}`;
const empty = (position: number) => entry(position, 'content = null, salt = null');
const ADA = "(select id from leads where email = 'ada@example.com')";
const CHAIN = 'kind, row_id, content, salt, content_hash, previous, hash, sealed_at';
const RECEIPT =
  'purpose, consent_version, given_at, verified_at, client_address, verified_from_address, user_agent, same_browser';
const copyReceipt = (columns: string) =>
  `insert into consent_receipts select ${columns}, ${RECEIPT} from consent_receipts where id = ${idOf('ada')}`;
const NO_HEAD = 'delete from consent_chain_head';
const NO_EVE = `delete from consent_receipts where id = ${idOf('eve')}`;
const FAY_AGAIN = copyReceipt(`${rowAt(5)}, lead_id, 'nothing'`);
const FAYS_CONTENT = entry(5, "content = '{}', salt = '0'");
const FORM =
  'browser_id, name, company, email_typed, client_address, attribution, flags, created_at, given_at, asked_at, codes_sent, expires_at, verified_at';
const swap = (columns: string) => [
  `create temporary table swapped as select position, ${columns} from consent_chain where position <= 2`,
  ...(columns.includes('row_id') ? [entry(1, "row_id = 'x'")] : []),
  ...[2, 1].map((at) => {
    const of = (column: string) => `${column} = (select ${column} from swapped where position = ${3 - at})`;
    return entry(at, columns.split(', ').map(of).join(', '));
  }),
  'drop table swapped',
];

/** Entries 1 to 4: Ada, Eve, Bob and Dan agreed. Entry 5: Fay agreed; erased by entry 7. Entry 6: Dan withdrew. */
const FORGERIES: readonly (readonly [what: string, Forging | readonly Forging[], ...errors: string[]])[] = [
  ['content changed', entry(1, "content = replace(content, 'Ada', 'Eva')"), content(1)],
  ['salt changed', entry(1, "salt = '00'"), content(1)],
  ['content hash changed', entry(3, "content_hash = 'x'"), link(3), content(3)],
  ['previous hash changed', entry(3, "previous = 'x'"), link(3)],
  ['kind changed', entry(6, "kind = 'erasure'"), link(6)],
  ['content and hashes', rechain(3, 'Analytical', 'Digital'), differs(3, 'company'), cut(7), anchor(7)],
  ['content and its own hashes', rechain(3, 'Analytical', 'Digital', 3), differs(3, 'company'), link(4)],
  [
    'content, hashes, row',
    [receipt('bob', "user_agent = 'B'"), rechain(3, 'Browser/7', 'B')],
    cut(7),
    anchor(7),
  ],
  ['entry removed', remove('position = 2'), gap(3, 2)],
  ['entry and row removed', [NO_EVE, remove('position = 2')], gap(3, 2)],
  ['end removed, then growing again', remove('position > 2'), cut(7), anchor(7)],
  ['chain removed, then growing again', remove('true'), cut(7), anchor(7)],
  ['chain and head removed', [remove('true'), NO_HEAD], unsigned(1), anchor(7)],
  ['head removed', NO_HEAD, unsigned(1)],
  ['signature changed', "update consent_chain_head set signature = 'x', signed_at = 0", signature(7)],
  ['head moved', [append('consent', '{}'), moveHead(8)], missing(8), signature(8)],
  ['head moved back', [remove('position > 4'), moveHead(4)], signature(4), anchor(7)],
  [
    'rows of entries swapped',
    swap('row_id'),
    ...[1, 2].flatMap((at) => [link(at), differs(at, 'email, given_at, verified_at')]),
  ],
  ['entries swapped', swap(CHAIN), link(1), link(2), link(3)],
  ['contents of entries swapped', swap('content, salt'), content(1), content(2)],
  ...[0, -3].map(
    (at) =>
      [
        `entry added at ${at}`,
        `insert into consent_chain (position, ${CHAIN}) select ${at}, 'consent', 'x', content, salt, content_hash, previous, hash, 0
          from consent_chain where position = 1`,
        gap(at, 1),
        missing(at),
      ] as const,
  ),
  ['entry added without a row', append('consent', '{"email":"x@example.com"}'), missing(8), unsigned(8)],
  [
    'entry added with a row',
    [
      `insert into submissions (id, email, consent_version, ${FORM}) select 'x', email, consent_version, ${FORM}
        from submissions where email = 'ada@example.com'`,
      copyReceipt("'x', lead_id, 'x'"),
      append('consent', '{"email":"ada@example.com"}'),
    ],
    unsigned(8),
  ],
  ['unreadable entry added', append('acceptance', 'x'), content(8), unsigned(8)],
  ['proof emptied', empty(2), emptied(2)],
  ['proof emptied, row removed', [NO_EVE, empty(2)], emptied(2)],
  ['and an erasure moved to it', [NO_EVE, empty(2), entry(7, `row_id = ${rowAt(2)}`)], emptied(5), link(7)],
  ['and an erasure added', [NO_EVE, empty(2), append('erasure', '{}', 2)], unsigned(8)],
  ['erasure emptied', empty(7), emptied(7)],
  ['erasure removed', remove('position = 7'), emptied(5), cut(7), anchor(7)],
  ['row of an erased person returned', FAY_AGAIN, returned(5, 'its consent')],
  ['content of an erased person returned', FAYS_CONTENT, returned(5, 'its content')],
  ['erased person returned', [FAY_AGAIN, FAYS_CONTENT], returned(5, 'its content and its consent')],
  ['given_at', receipt('eve', 'given_at = given_at - 1'), differs(2, 'given_at')],
  ['verified_at', receipt('eve', 'verified_at = verified_at + 3600000'), differs(2, 'verified_at')],
  [
    'verified_at beyond numbers',
    receipt('eve', 'verified_at = 9223372036854775807'),
    differs(2, 'verified_at'),
  ],
  ...['client_address', 'verified_from_address', 'user_agent'].map(
    (column) => [column, receipt('eve', `${column} = '203.0.113.9'`), differs(2, column)] as const,
  ),
  ['same_browser', receipt('eve', 'same_browser = 1 - same_browser'), differs(2, 'same_browser')],
  ['purpose', receipt('eve', "purpose = 'news'"), differs(2, 'purpose')],
  ['lead of a consent', receipt('eve', `lead_id = ${ADA}`), differs(2, 'email')],
  [
    'wording of a consent',
    [
      "insert into consent_wordings values ('x', 'guide', 'I agree.', 0)",
      receipt('eve', "consent_version = 'x'"),
    ],
    differs(2, 'consent_version, wording'),
  ],
  [
    'text of a wording',
    "update consent_wordings set text = 'I agree.'",
    ...[1, 2, 3, 4].map((at) => differs(at, 'wording')),
  ],
  [
    'address of a lead',
    "update leads set email = 'eva@example.com' where email like 'eve@%'",
    differs(2, 'email'),
  ],
  [
    'form',
    "update submissions set company = 'x', answers = '{}' where email like 'eve@%'",
    differs(2, 'company, answers'),
  ],
  ['consent removed', NO_EVE, missing(2)],
  ['ID of a consent', receipt('eve', "id = 'x'"), missing(2)],
  ['withdrawal removed', 'delete from withdrawals', missing(6, 'withdrawal')],
  ...Object.entries({
    way: "'one-click'",
    withdrawn_at: '0',
    client_address: "'203.0.113.9'",
    user_agent: "'B'",
  }).map(
    ([column, value]) =>
      [
        `${column} of a withdrawal`,
        `update withdrawals set ${column} = ${value}`,
        differs(6, column, 'withdrawal'),
      ] as const,
  ),
  ['lead of a withdrawal', `update withdrawals set lead_id = ${ADA}`, differs(6, 'email', 'withdrawal')],
  [
    'consent added that can never be sealed',
    copyReceipt("'x', 'nobody', 'nothing'"),
    'null: an entry for consent or withdrawal x | none',
  ],
];

onEachEngine('forgeries in the consent chain', ({ test }) => {
  test('each forgery in the consent chain is reported with position, expected and actual value', async (server) => {
    const head = await history(server);
    const { db } = server.database;
    const before = await rowsIn(db);
    const check = async () => {
      await sealConsents(server.service);
      const { secrets } = server.service;
      return (await verifyChain(db, { secrets, now: server.now(), anchor: head })).errors.map(errorText);
    };
    for (const [what, forging, ...errors] of FORGERIES) {
      await asStranger(server, ...[forging].flat());
      assert.deepEqual([what, ...(await check())], [what, ...errors]);
      await asStranger(server, (stranger) => putBack(stranger, before));
    }
    assert.deepEqual(await check(), []);
  });

  test('accepted errors in the consent chain are listed apart from later errors', async (server) => {
    const { service } = server;
    await history(server);
    await asStranger(server, NO_HEAD, NO_EVE, empty(2));
    const found = await verifyReport(server);
    assert.deepEqual([found.exitCode, found.errors], [1, [emptied(2), unsigned(1)]]);
    const refused = await desk(service, ['consent', 'accept']);
    assert.deepEqual([refused.exitCode, await server.countRows('consent_chain')], [1, 7]);
    const readerIsGone = { print: () => Promise.reject(new CommandFailure('The reader is gone.')) };
    const accept = () => desk(service, ['consent', 'accept', '--yes'], readerIsGone);
    const first = await accept();
    assert.equal(first.exitCode, 0);
    assert.match(first.notes, /^Entry 2: expected its content, or an erasure, found neither\.$/m);
    const accepted = [emptied(2), unsigned(1)];
    const after = await verifyReport(server);
    assert.deepEqual([after.exitCode, after.errors, after.accepted], [0, [], accepted]);
    const { out } = await desk(service, ['consent', 'verify']);
    assert.match(out, /^Accepted: Entry 2: expected its content, or an erasure, found neither\.$/m);
    assert.match((await accept()).notes, /nothing to accept/);

    await agree(server, 'gus@example.com');
    await server.advance(61);
    assert.deepEqual((await verifyReport(server)).errors, []);
    const moveBob = (to: string) => asStranger(server, receipt('bob', `client_address = '${to}'`));
    await moveBob('203.0.113.9');
    const moved = differs(3, 'client_address');
    assert.deepEqual((await verifyReport(server)).errors, [moved]);
    assert.equal((await accept()).exitCode, 0);
    const again = await verifyReport(server);
    assert.deepEqual([again.errors, again.accepted], [[], [...accepted, moved]]);
    const bob = await exportProof(server, 'bob@example.com');
    assert.equal(bob.exitCode, 0);
    assert.doesNotMatch(bob.page, /proof is not valid/);
    assert.match(bob.page, /<h2>Accepted changes<\/h2>.*<li>Accepted: Entry 3: expected/s);
    await moveBob('203.0.113.10');
    const { errors } = JSON.parse((await desk(service, ['consent', 'verify', '--json'])).out) as ChainReport;
    assert.deepEqual(errors.map(errorText), [moved]);

    await asStranger(server, append('acceptance', JSON.stringify({ errors }), 'acceptance-3'));
    assert.deepEqual((await verifyReport(server)).errors, [moved, unsigned(11)]);
    await asStranger(server, NO_HEAD);
    assert.deepEqual((await verifyReport(server)).errors, [emptied(2), moved, unsigned(1)]);
  });

  test('the consent chain is exported unchanged, including every error', async (server) => {
    await history(server);
    const before = await rowsIn(server.database.db);
    const from = ['198.51.100.7'];
    const addressesIn = ({ entries }: Awaited<ReturnType<typeof exportProof>>) =>
      entries.map(({ content: { client_address } }) => client_address);
    const changed = 'Entry 1: expected its consent as sealed, found different values';
    const unproved: readonly (readonly [Forging | readonly Forging[], string[], number, number])[] = [
      [receipt('ada', "client_address = '203.0.113.9'"), [`${changed} (client_address).`], 1, 0],
      ["update leads set email = 'ida@example.com' where email like 'ada@%'", [`${changed} (email).`], 1, 0],
      [
        entry(1, "content = replace(content, '198.51.100.7', '203.0.113.9')"),
        ['Entry 1: expected the sealed content, found different content.'],
        0,
        0,
      ],
      [
        rechain(1, 'Browser/7', 'B'),
        [
          `${changed} (user_agent).`,
          'Entry 7: expected the entry signed as the newest, found none or a different entry.',
        ],
        1,
        1,
      ],
      // Then the changed receipt is sealed again.
      [
        ['delete from consent_chain where position = 2', receipt('eve', "client_address = '203.0.113.9'")],
        ['Entry 3: expected entry 2, found entry 3.'],
        1,
        1,
      ],
    ];
    for (const [forging, errors, printed, exitOfEve] of unproved) {
      await asStranger(server, ...[forging].flat());
      const ada = await exportProof(server, 'ada@example.com');
      assert.deepEqual([ada.exitCode, ada.errors, addressesIn(ada)], [1, errors, from.slice(0, printed)]);
      assert.match(ada.notes, /do not prove the consent of ada@example\.com/);
      assert.match(ada.page, /This proof is not valid/);
      assert.doesNotMatch(ada.page, /class="tick"/);
      assert.doesNotMatch(ada.page, /203\.0\.113\.9/);
      assert.equal((await exportProof(server, 'eve@example.com')).exitCode, exitOfEve);
      await asStranger(server, (stranger) => putBack(stranger, before));
    }
    await asStranger(server, entry(1, "salt = '<img src>'"), rechain(1, 'Browser/7', 'Browser/7'));
    const { page } = await exportProof(server, 'ada@example.com');
    assert.match(page, /&lt;img src/);
    assert.doesNotMatch(page, /<img/);
    await asStranger(server, (stranger) => putBack(stranger, before));
    const ada = await exportProof(server, 'ada@example.com');
    assert.deepEqual([ada.exitCode, ada.errors, addressesIn(ada)], [0, [], from]);
    assert.doesNotMatch(ada.page, /proof is not valid/);
    assert.match(ada.page, /class="tick"/);
  });
});

async function history(server: ServerUnderTest): Promise<ChainReport['head']> {
  for (const name of ['ada', 'eve', 'bob', 'dan', 'fay']) await agree(server, `${name}@example.com`);
  await server.advance(61);
  await desk(server.service, ['suppress', 'add', 'dan@example.com', '--reason', 'unsubscribed']);
  await sealConsents(server.service);
  await desk(server.service, ['erase', 'fay@example.com', '--yes']);
  const { exitCode, entries, erased, errors, head } = await verifyReport(server);
  assert.deepEqual([exitCode, entries, erased, errors], [0, 7, 1, []]);
  return head;
}

async function asStranger({ database: { db, engine } }: ServerUnderTest, ...forgings: readonly Forging[]) {
  const forge = async (tx: Db) => {
    for (const forging of forgings)
      await (typeof forging === 'function' ? forging(tx) : sql.raw(forging).execute(tx));
  };
  if (engine === 'postgres')
    await db.transaction().execute(async (tx) => {
      // For this transaction only, because the next one may use another connection of a pooler.
      await sql`set local session_replication_role = replica`.execute(tx);
      await forge(tx);
    });
  else
    await db.connection().execute(async (connection) => {
      await setForeignKeys(connection, false);
      try {
        await forge(connection);
      } finally {
        await setForeignKeys(connection, true);
      }
    });
}

/** SQLite ignores the pragma during a transaction, and the server may have one open. */
async function setForeignKeys(db: Db, on: boolean): Promise<void> {
  await until(async () => {
    await sql.raw(`pragma foreign_keys = ${on ? 'on' : 'off'}`).execute(db);
    const { rows } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(db);
    return rows[0]?.foreign_keys === Number(on);
  });
}

const TABLES = [
  'consent_wordings',
  'submissions',
  'leads',
  'consent_receipts',
  'withdrawals',
  'consent_chain',
  'consent_chain_head',
] as const satisfies readonly (keyof Schema)[];
type Rows = readonly (readonly [(typeof TABLES)[number], readonly object[]])[];

const rowsIn = (db: Db): Promise<Rows> =>
  Promise.all(
    TABLES.map(async (table) => [table, await db.selectFrom(table).selectAll().execute()] as const),
  );

async function putBack(db: Db, rows: Rows): Promise<void> {
  for (const [table] of rows.toReversed()) await db.deleteFrom(table).execute();
  for (const [table, some] of rows) for (const row of some) await db.insertInto(table).values(row).execute();
}

/** Changes text in the entries and updates the hashes that follow. */
function rechain(from: number, before: string, after: string, to?: number): Forging {
  return async (db) => {
    const entries = await db.selectFrom('consent_chain').selectAll().orderBy('position').execute();
    let previous = entries[from - 1]!.previous;
    for (const old of entries.slice(from - 1, to)) {
      const text = old.position === from ? old.content!.replace(before, after) : old.content;
      const contentHash = text === null ? old.content_hash : hashOfContent(old.salt!, text);
      const changed = { content: text, content_hash: contentHash, previous };
      const hash = hashOfEntry({ ...old, ...changed });
      await db
        .updateTable('consent_chain')
        .set({ ...changed, hash } as never)
        .where('position', '=', old.position)
        .execute();
      previous = hash;
    }
  };
}

/** Appends an entry with a correct hash but no signature. */
function append(kind: ChainEntry['kind'], text: string, row: string | number = 'x'): Forging {
  return async (db) => {
    const entries = await db.selectFrom('consent_chain').selectAll().orderBy('position').execute();
    const last = entries.at(-1)!;
    const added = {
      position: last.position + 1,
      kind,
      row_id: typeof row === 'string' ? row : entries[row - 1]!.row_id,
      content: text,
      salt: '5a17',
      content_hash: hashOfContent('5a17', text),
      previous: last.hash,
      sealed_at: 0,
    };
    await db
      .insertInto('consent_chain')
      .values({ ...added, hash: hashOfEntry(added) })
      .execute();
  };
}

function moveHead(position: number): string {
  return `update consent_chain_head set position = ${position}, hash = (select hash from consent_chain where position = ${position})`;
}
