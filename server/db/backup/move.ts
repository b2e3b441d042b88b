import { hash } from 'node:crypto';

import { sql, type Kysely } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { WITHOUT_TIME_LIMIT } from '#server/db/engine/postgres.ts';
import { columnsOf, descriptionOf, keyOf, TABLE_NAMES, TABLES, type Schema } from '#server/db/all-tables.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import { countRows, hasRow } from '#server/db/engine/row-counts.ts';

type Table = keyof Schema;
type Row = Readonly<Record<string, unknown>>;

const PAGE_SIZE = 1_000;

export type MovedTable = {
  readonly table: string;
  readonly rows: number;
  readonly source: string;
  readonly target: string;
};

/** Call this before migrating. */
export async function foreignTables(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = current_schema() order by table_name
  `.execute(db);
  const names = rows.map(({ name }) => name);
  return names.includes(DEFAULT_MIGRATION_TABLE) ? [] : names.filter((name) => name in TABLES);
}

/** Call this on the first connection. */
export async function otherConnections(db: Db): Promise<number> {
  const { rows } = await sql<{ others: number }>`
    select count(*) as others from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
    and coalesce(backend_type, 'client backend') = 'client backend'
  `.execute(db);
  return rows[0]?.others ?? 0;
}

export async function filledTables(db: Db): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const table of TABLE_NAMES) {
    if (descriptionOf(table).isFilledAtStart) continue;
    const rows = anyTable(db)
      .selectFrom(table)
      .select(sql`1`.as('one'));
    if (await hasRow(rows)) filled.push(table);
  }
  return filled;
}

/** Runs `read` on one snapshot of PostgreSQL, so the site may keep writing. The transaction is idle while rows are copied. */
export const inSnapshot = <Result>(db: Db, read: (tx: Db) => Promise<Result>): Promise<Result> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql.raw(WITHOUT_TIME_LIMIT).execute(tx);
      return read(tx);
    });

export class RowsDiffer extends Error {}

/**
 * Copies in one transaction. If it fails, the target stays unchanged.
 * @param onRows receives the number of rows copied so far from a table; throw to end the copy
 * @throws {RowsDiffer} if checksums or counts differ
 */
export async function moveRows(
  source: OpenDatabase,
  target: OpenDatabase,
  onTable: (moved: MovedTable) => void,
  onRows: (table: string, rows: number) => void = () => {},
): Promise<readonly MovedTable[]> {
  const movedTables: MovedTable[] = [];
  await target.db.transaction().execute(async (tx) => {
    for (const table of TABLE_NAMES.toReversed()) await anyTable(tx).deleteFrom(table).execute();
    for (const table of TABLE_NAMES) {
      const sourceChecksum = createChecksum(table);
      let rows = 0;
      for await (const page of pagesOf(source.db, table)) {
        await anyTable(tx).insertInto(table).values(page).execute();
        rows += page.length;
        for (const row of page) sourceChecksum.add(row);
        onRows(table, rows);
      }
      const targetChecksum = createChecksum(table);
      for await (const page of pagesOf(tx, table)) for (const row of page) targetChecksum.add(row);
      const moved = { table, rows, source: sourceChecksum.hex(), target: targetChecksum.hex() };
      // If a collation changed after the index was built, PostgreSQL may not find all rows.
      if (moved.source !== moved.target || rows !== (await countRows(anyTable(source.db).selectFrom(table))))
        throw new RowsDiffer(table);
      movedTables.push(moved);
      onTable(moved);
    }
  });
  return movedTables;
}

type AnyTables = Kysely<Record<string, Record<string, unknown>>>;
const anyTable = (db: Db): AnyTables => db as unknown as AnyTables;

function pagesOf(db: Db, table: Table): AsyncGenerator<readonly Row[]> {
  const key = keyOf(table);
  // Index order depends on PostgreSQL's collation. In any other order, all rows would have to be sorted.
  const keyColumns = key.map((column) => sql.ref(column));
  const readAfter = async (last: Row | null): Promise<readonly Row[]> => {
    let query = anyTable(db).selectFrom(table).select(columnsOf(table)).limit(PAGE_SIZE);
    for (const column of keyColumns) query = query.orderBy(column);
    if (last !== null) {
      const values = key.map((column) => sql`${last[column]}`);
      query = query.where(sql<boolean>`(${sql.join(keyColumns)}) > (${sql.join(values)})`);
    }
    return query.execute();
  };
  return pagesAfter<Row, Row | null>(null, readAfter, (row) => row);
}

const HASH_BITS = 256;

/** Adds up the hashes of all rows, because the two databases return them in different orders. */
function createChecksum(table: Table) {
  const columns: readonly string[] = columnsOf(table);
  let sum = 0n;
  return {
    add: (row: Row): void => {
      const text = JSON.stringify(columns.map((column) => row[column] ?? null));
      sum = BigInt.asUintN(HASH_BITS, sum + BigInt(`0x${hash('sha256', text)}`));
    },
    hex: (): string => sum.toString(16).padStart(HASH_BITS / 4, '0'),
  };
}
