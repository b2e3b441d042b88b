// Looks at a database from beside the server, and changes nothing in it: whether it is whole, up to date and takes writes.
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Kysely, sql } from 'kysely';

import type { Config } from '#server/config.ts';
import { openDatabase, type Db } from '#server/db/connect.ts';
import { knownSecretIds } from '#server/db/known-secrets.ts';
import { compareMigrations } from '#server/db/migrate.ts';
import { createSqliteDialect } from '#server/db/sqlite-dialect.ts';

const PATIENCE_MS = 5_000;
/** One is enough to know. */
const MOST_DAMAGE = 3;

export type Look = {
  /** Migrations that the next start runs. Nothing is known of the rows then. */
  readonly pending: readonly string[];
  /** Migrations of a newer version of this page. */
  readonly unknown: readonly string[];
  readonly secretIds: readonly string[];
  /** When the newest row was made, as the clock of its server told. Milliseconds since 1970; null when there is none. */
  readonly newestAt: number | null;
  readonly takesWrites: boolean;
  /** By how much the database's own clock is ahead of ours, in milliseconds; null where both are one. */
  readonly clockAheadMs: number | null;
};

/**
 * Looks at what a database holds.
 * @throws what the database says when it cannot be read
 */
export async function lookAtDatabase(config: Config['database']): Promise<Look> {
  if (config.engine === 'sqlite') {
    const sqlite = new DatabaseSync(config.file, { readOnly: true, timeout: PATIENCE_MS });
    const db: Db = new Kysely({
      dialect: createSqliteDialect({ sqlite, patienceMs: PATIENCE_MS, isFileOurs: () => true }),
    });
    try {
      return { ...(await lookAtRows(db)), takesWrites: mayWrite(config.file), clockAheadMs: null };
    } finally {
      await db.destroy();
    }
  }
  const { db, close } = openDatabase(config, () => {});
  try {
    // First, so that the question about the time need not wait for a connection.
    const rowsSeen = await lookAtRows(db);
    const asked = Date.now();
    const { rows } = await sql<{ now: number; read_only: string }>`
      select extract(epoch from clock_timestamp()) * 1000 as now, current_setting('transaction_read_only') as read_only
    `.execute(db);
    const ours = (asked + Date.now()) / 2;
    return {
      ...rowsSeen,
      takesWrites: rows[0]?.read_only === 'off',
      clockAheadMs: Math.round(Number(rows[0]?.now) - ours),
    };
  } finally {
    await close();
  }
}

/** The file, and the folder in which SQLite makes its log. */
function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    accessSync(path.dirname(file), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function lookAtRows(db: Db): Promise<Omit<Look, 'takesWrites' | 'clockAheadMs'>> {
  const migrations = await compareMigrations(db);
  if (migrations.pending.length > 0) return { ...migrations, secretIds: [], newestAt: null };
  // Ids sort by the time they were made at.
  const newest = await Promise.all([
    db.selectFrom('submissions').select('created_at as at').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    db.selectFrom('outbox').select('created_at as at').orderBy('id', 'desc').limit(1).executeTakeFirst(),
    db
      .selectFrom('consent_receipts')
      .select('verified_at as at')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst(),
  ]);
  const times = newest.flatMap((row) => (row === undefined ? [] : [row.at]));
  return {
    ...migrations,
    secretIds: await knownSecretIds(db),
    newestAt: times.length === 0 ? null : Math.max(...times),
  };
}

/**
 * Reads the whole file and looks whether its parts fit together (SQLite's quick_check). Takes as long as reading it takes.
 * @returns what does not fit, in SQLite's words
 */
export function findDamage(file: string): readonly string[] {
  using sqlite = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE_MS });
  const rows = sqlite.prepare(`pragma quick_check(${MOST_DAMAGE})`).all();
  return rows.map((row) => String(row['quick_check'])).filter((line) => line !== 'ok');
}
