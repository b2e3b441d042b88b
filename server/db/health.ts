import { accessSync, constants, realpathSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';

import { Kysely, sql } from 'kysely';

import { openDatabase, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { createWriteMonitor, type WriteFault } from '#server/db/engine/outages.ts';
import { createSqliteDialect } from '#server/db/engine/sqlite.ts';
import { compareMigrations } from '#server/db/migrations/migrate.ts';
import { knownSecretIds } from '#server/db/tables/known-secrets.ts';
import { countInWindow } from '#server/db/tables/limit-windows.ts';
import { refusesEverybody } from '#server/db/tables/outbox.ts';
import { countEvents } from '#server/db/tables/webhook-events.ts';
import type { DatabaseAddress } from '#server/platform/database-url.ts';
import { HOUR_MS } from '#server/platform/time.ts';

/** @throws the database's error */
export const pingDatabase = (db: Db): Promise<unknown> => sql`select 1`.execute(db);

const RETRY_INTERVAL_MS = 5_000;
const RETRY_TIMEOUT_MS = 1_000;

/** Reports the result of the latest writes. While they fail, retries a write at intervals. */
export function createWriteCheck(
  { db, writes }: Pick<OpenDatabase, 'db' | 'writes'>,
  clock: () => number,
): () => Promise<WriteFault | null> {
  let retriedAt = -Infinity;
  let retry: Promise<void> | null = null;

  const retryOnce = async (): Promise<void> => {
    await countInWindow(db, 'tries to write', HOUR_MS, clock()).catch(() => {});
    retry = null;
  };

  return async () => {
    if (writes.fault() === null) return null;
    if (retry === null && Math.abs(clock() - retriedAt) >= RETRY_INTERVAL_MS) {
      retriedAt = clock();
      retry = retryOnce();
    }
    if (retry !== null) await Promise.race([retry, setTimeout(RETRY_TIMEOUT_MS, undefined, { ref: false })]);
    return writes.fault();
  };
}

const LOCK_TIMEOUT_MS = 5_000;
const MAX_DAMAGE_LINES = 3;

export type DatabaseState = {
  readonly pending: readonly string[];
  /** Migrations from a newer release. */
  readonly unknown: readonly string[];
  readonly secretIds: readonly string[];
  readonly newestAt: number | null;
  readonly deadEvents: number;
  readonly refusesEverybody: boolean;
  /** Determined without writing. */
  readonly isReadOnly: boolean;
  readonly clockAheadMs: number | null;
};

export async function readDatabaseState(config: DatabaseAddress): Promise<DatabaseState> {
  if (config.engine === 'sqlite') {
    const sqlite = new DatabaseSync(config.file, { readOnly: true, timeout: LOCK_TIMEOUT_MS });
    const db: Db = new Kysely({
      dialect: createSqliteDialect({
        sqlite,
        lockTimeoutMs: LOCK_TIMEOUT_MS,
        isFileInPlace: () => true,
        flush: async () => {},
        writeMonitor: createWriteMonitor(Date.now),
      }),
    });
    try {
      return { ...(await readRowState(db)), isReadOnly: isFileReadOnly(config.file), clockAheadMs: null };
    } finally {
      await db.destroy();
    }
  }
  const { db, close } = openDatabase(config, () => {});
  try {
    const rowState = await readRowState(db);
    const askedAt = Date.now();
    const { rows } = await sql<{ now: number; read_only: string }>`
      select extract(epoch from clock_timestamp()) * 1000 as now, current_setting('transaction_read_only') as read_only
    `.execute(db);
    const ourTime = (askedAt + Date.now()) / 2;
    return {
      ...rowState,
      isReadOnly: rows[0]?.read_only !== 'off',
      clockAheadMs: Math.round(Number(rows[0]?.now) - ourTime),
    };
  } finally {
    await close();
  }
}

function isFileReadOnly(file: string): boolean {
  try {
    for (const name of [file, path.dirname(realpathSync(file))]) accessSync(name, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}

async function readRowState(db: Db): Promise<Omit<DatabaseState, 'isReadOnly' | 'clockAheadMs'>> {
  const migrations = await compareMigrations(db);
  if (migrations.pending.length > 0)
    return { ...migrations, secretIds: [], newestAt: null, deadEvents: 0, refusesEverybody: false };
  const { rows } = await sql<{ newest_at: number | null }>`
    select max(at) as newest_at from (
      select (select created_at from submissions order by id desc limit 1) as at
      union all select (select created_at from outbox order by id desc limit 1)
      union all select (select verified_at from consent_receipts order by id desc limit 1)
    ) newest
  `.execute(db);
  return {
    ...migrations,
    secretIds: await knownSecretIds(db),
    newestAt: rows[0]?.newest_at ?? null,
    deadEvents: (await countEvents(db)).dead,
    refusesEverybody: await refusesEverybody(db, Date.now()),
  };
}

export function findDamage(file: string): readonly string[] {
  using sqlite = new DatabaseSync(file, { readOnly: true, timeout: LOCK_TIMEOUT_MS });
  const rows = sqlite.prepare(`pragma quick_check(${MAX_DAMAGE_LINES})`).all();
  return rows.map((row) => String(row['quick_check'])).filter((line) => line !== 'ok');
}
