// Migrates the database at start. If several processes start at once, the first one migrates and the others wait.
import { sql, type Kysely } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator, type Migration } from 'kysely/migration';

import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { WITHOUT_TIME_LIMIT } from '#server/db/engine/postgres.ts';
import { isBusy } from '#server/db/engine/outages.ts';
import * as initialSchema from '#server/db/migrations/2026-11-28-initial-schema.ts';

/**
 * Append new migrations. Keep everything that the previous release uses, because it may still be running: remove or rename
 * nothing, and let its inserts succeed. If that is impossible, end the name of the migration with {@link NO_WAY_BACK}.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = { '2026-11-28-initial-schema': initialSchema };

/** @returns pending migrations, and those known only to a newer release */
export async function compareMigrations<Tables>(
  db: Kysely<Tables>,
): Promise<{ readonly pending: readonly string[]; readonly unknown: readonly string[] }> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const table = sql.table<{ name: string }>(DEFAULT_MIGRATION_TABLE);
  const executed = tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)
    ? (await sql<{ name: string }>`select name from ${table}`.execute(db)).rows.map(({ name }) => name)
    : [];
  return {
    pending: Object.keys(MIGRATIONS).filter((name) => !executed.includes(name)),
    unknown: executed.filter((name) => !(name in MIGRATIONS)),
  };
}

const LOCK_TIMEOUT_MS = 60_000;

export const NO_WAY_BACK = '-no-way-back';

/**
 * Runs all migrations or none.
 * @param options mayBeNewer: accepts a newer release's database unless marked {@link NO_WAY_BACK}
 * @returns migrations of a newer release
 * @throws the database's error
 */
export async function migrate(
  { db, engine }: OpenDatabase,
  { mayBeNewer = false }: { readonly mayBeNewer?: boolean } = {},
): Promise<readonly string[]> {
  const run = engine === 'postgres' ? migratePostgres : runMigrations;
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      await run(db, []);
      return [];
    } catch (error) {
      if (mayBeNewer && isFromNewerVersion(error)) {
        const { pending, unknown } = await compareMigrations(db);
        // Otherwise the database is older than the first release.
        if (pending.length > 0 || unknown.some((name) => name.endsWith(NO_WAY_BACK))) throw error;
        await run(db, unknown);
        return unknown;
      }
      if (engine === 'postgres' || !isBusy(error) || Date.now() >= deadline) throw error;
    }
  }
}

const MIGRATION_LOCK = 3_853_314_791_062_309_107n;

/** Locks within the transaction, because a pooler could lose a session lock. */
async function migratePostgres<Tables>(db: Kysely<Tables>, unknown: readonly string[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql.raw(WITHOUT_TIME_LIMIT).execute(tx);
    await sql`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`.execute(tx);
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(tx);
    await runMigrations(tx, unknown);
  });
}

export const isFromNewerVersion = (error: unknown): boolean =>
  error instanceof Error && /previously executed migration .+ is missing/.test(error.message);

/** @param unknown migrations of a newer release, which Kysely would otherwise report as missing */
async function runMigrations<Tables>(db: Kysely<Tables>, unknown: readonly string[]): Promise<void> {
  const noOps = unknown.map((name): [string, Migration] => [name, { up: async () => {} }]);
  const { error } = await createMigrator(db, {
    ...MIGRATIONS,
    ...Object.fromEntries(noOps),
  }).migrateToLatest();
  if (error !== undefined) throw error;
}

export async function migrateTo<Tables>(db: Kysely<Tables>, newest: string): Promise<void> {
  const { error } = await createMigrator(db, MIGRATIONS).migrateTo(newest);
  if (error !== undefined) throw error;
}

const createMigrator = <Tables>(
  db: Kysely<Tables>,
  migrations: Readonly<Record<string, Migration>>,
): Migrator => new Migrator({ db, provider: { getMigrations: async () => migrations } });
