// Brings the database up to date at start. Safe when several processes start at once: the second waits and finds
// nothing left to do.
import { sql, type Kysely } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, Migrator, type Migration } from 'kysely/migration';

import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { WITHOUT_TIME_LIMIT } from '#server/db/engine/postgres.ts';
import { isBusy } from '#server/db/engine/outages.ts';
import * as firstTables from '#server/db/migrations/2026-11-26-first-tables.ts';

/**
 * In the order in which they run. A new one goes to the end, and takes or narrows nothing that the release before reads or writes:
 * that one still runs beside it, and may be gone back to (schema-changes.test.ts looks). One that must, once no release in use needs
 * it any more, has a name that ends with {@link NO_WAY_BACK}.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = { '2026-11-26-first-tables': firstTables };

/**
 * Looks which migrations ran, and changes nothing.
 * @returns the names of those that are still to run, and of those that only a newer version of this page knows
 */
export async function compareMigrations<Tables>(
  db: Kysely<Tables>,
): Promise<{ readonly pending: readonly string[]; readonly unknown: readonly string[] }> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const table = sql.table<{ name: string }>(DEFAULT_MIGRATION_TABLE);
  const ran = tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)
    ? (await sql<{ name: string }>`select name from ${table}`.execute(db)).rows.map(({ name }) => name)
    : [];
  return {
    pending: Object.keys(MIGRATIONS).filter((name) => !ran.includes(name)),
    unknown: ran.filter((name) => !(name in MIGRATIONS)),
  };
}

const PATIENCE_MS = 60_000;

/** Ends the name of a migration that no release can live with which does not know it. */
export const NO_WAY_BACK = '-no-way-back';

/**
 * Runs the migrations that have not run yet, all or none.
 * @param options mayBeNewer: a database that a newer version has used is taken as it is, unless there is no way back
 * @returns the migrations of a newer version. Throws the database's error when one fails
 */
export async function migrate(
  { db, engine }: OpenDatabase,
  { mayBeNewer = false }: { readonly mayBeNewer?: boolean } = {},
): Promise<readonly string[]> {
  const run = engine === 'postgres' ? migratePostgres : runMigrations;
  // Another process that migrates a large database takes longer than a visitor is made to wait.
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      await run(db, []);
      return [];
    } catch (error) {
      if (mayBeNewer && isOfNewerVersion(error)) {
        const { pending, unknown } = await compareMigrations(db);
        // What a newer version used has all of ours. Without them, it is from before the first release.
        if (pending.length > 0 || unknown.some((name) => name.endsWith(NO_WAY_BACK))) throw error;
        await run(db, unknown);
        return unknown;
      }
      if (engine === 'postgres' || !isBusy(error) || Date.now() >= deadline) throw error;
    }
  }
}

/** As Kysely's own, so that releases that ask for it in its way wait as well. */
const MIGRATION_LOCK = 3_853_314_791_062_309_107n;

/**
 * All in one transaction, its lock included: Kysely's lock belongs to a session, and a pooler would leave it in one that cannot be
 * found again.
 */
async function migratePostgres<Tables>(db: Kysely<Tables>, others: readonly string[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // On a large database a migration takes longer than a visitor is made to wait.
    await sql.raw(WITHOUT_TIME_LIMIT).execute(tx);
    await sql`select set_config('lock_timeout', ${String(PATIENCE_MS)}, true)`.execute(tx);
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(tx);
    await runMigrations(tx, others);
  });
}

/** Whether a migration ran that this version does not know. */
export const isOfNewerVersion = (error: unknown): boolean =>
  error instanceof Error && /previously executed migration .+ is missing/.test(error.message);

/** @param others migrations that ran and are not ours */
async function runMigrations<Tables>(db: Kysely<Tables>, others: readonly string[]): Promise<void> {
  const ran = others.map((name): [string, Migration] => [name, { up: async () => {} }]);
  const { error } = await migratorOf(db, { ...MIGRATIONS, ...Object.fromEntries(ran) }).migrateToLatest();
  if (error !== undefined) throw error;
}

/**
 * Brings an empty database of SQLite to where an earlier release left it.
 * @param newest the last migration that runs
 */
export async function migrateTo<Tables>(db: Kysely<Tables>, newest: string): Promise<void> {
  const { error } = await migratorOf(db, MIGRATIONS).migrateTo(newest);
  if (error !== undefined) throw error;
}

const migratorOf = <Tables>(db: Kysely<Tables>, migrations: Readonly<Record<string, Migration>>): Migrator =>
  new Migrator({ db, provider: { getMigrations: async () => migrations } });
