// A chain of consents, and a stranger who can write to the database and does not have APP_SECRET.
import assert from 'node:assert/strict';

import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { hashOfContent, hashOfEntry } from '#server/db/tables/consent-chain.ts';
import { agree, verifyReport } from '#testing/consents.ts';
import { desk } from '#testing/desk.ts';
import { until } from '#testing/until.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

/** Tables that forgeries touch, each after the tables that it refers to. */
const TABLES = [
  'consent_wordings',
  'submissions',
  'leads',
  'consent_receipts',
  'withdrawals',
  'consent_chain',
  'consent_chain_head',
] as const satisfies readonly (keyof Schema)[];

/** Works on the database without the rules of the schema, as a stranger can. */
export async function asStranger(
  { database: { db, engine } }: ServerUnderTest,
  work: (db: Db) => Promise<void>,
): Promise<void> {
  await db.connection().execute(async (connection) => {
    const rules = (on: boolean) =>
      engine === 'sqlite'
        ? setForeignKeys(connection, on)
        : sql.raw(`set session_replication_role = ${on ? 'origin' : 'replica'}`).execute(connection);
    await rules(false);
    try {
      await work(connection);
    } finally {
      await rules(true);
    }
  });
}

/** SQLite ignores the pragma while a transaction is under way, as the server's own work can have one. */
async function setForeignKeys(db: Db, on: boolean): Promise<void> {
  await until(async () => {
    await sql.raw(`pragma foreign_keys = ${on ? 'on' : 'off'}`).execute(db);
    const { rows } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(db);
    return rows[0]?.foreign_keys === Number(on);
  });
}

type Rows = readonly (readonly [(typeof TABLES)[number], readonly object[]])[];

export const rowsIn = async (db: Db): Promise<Rows> => {
  const all: [(typeof TABLES)[number], readonly object[]][] = [];
  for (const table of TABLES) all.push([table, await db.selectFrom(table).selectAll().execute()]);
  return all;
};

export async function putBack(db: Db, rows: Rows): Promise<void> {
  for (const [table] of rows.toReversed()) await db.deleteFrom(table).execute();
  for (const [table, some] of rows) for (const row of some) await db.insertInto(table).values(row).execute();
}

/**
 * Ada, Eve, Bob, Dan and Fay agree; Dan takes it back, Fay is erased. Entries 1 to 5, 6, and 7, which empties 5.
 * @returns the anchor of the chain
 */
export async function history(server: ServerUnderTest): Promise<string> {
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

export const receiptOf = (name: string) =>
  sql`(select r.id from consent_receipts r join leads l on l.id = r.lead_id where l.email = ${`${name}@example.com`})`;
export const emptied = (position: number) =>
  sql`update consent_chain set content = null, salt = null where position = ${position}`;

/** Appends or replaces entries as this page would, but for the signature. */
export async function rechain(
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

export async function appendForged(db: Db, content: object, id: string): Promise<void> {
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
