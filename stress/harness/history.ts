import { statSync } from 'node:fs';
import path from 'node:path';

import { sql } from 'kysely';

import { openDatabase, type Db } from '#server/db/engine/connect.ts';
import { sealConsents } from '#server/consent/sealer.ts';
import type { Engine } from '#testing/databases.ts';
import { openTestService } from '#testing/open-test-service.ts';

/** Stops housekeeping from deleting the history during the measurement. */
export const KEPT_FOR_EVER = { RETENTION_DAYS: '0', MAIL_RETENTION_DAYS: '0' } as const;

/** @param options seal: false leaves the consents out of the chain */
export async function fillHistory(
  { folder, env, engine }: { folder: string; env: Readonly<Record<string, string>>; engine: Engine },
  leads: number,
  { seal = true }: { readonly seal?: boolean } = {},
): Promise<void> {
  const start = performance.now();
  const service = await openTestService(folder, env);
  const { database } = service.config;
  await service.close();
  // No statement timeout, because production's limit is for visitors.
  const { db, close } = openDatabase(database, () => {}, { statementTimeoutMs: 0 });
  await db.connection().execute((connection) => fillTables(connection, engine, leads));
  // Does what autovacuum would do. Otherwise an index scan on PostgreSQL checks each new row.
  await sql.raw(engine === 'postgres' ? 'vacuum analyze' : 'analyze').execute(db);
  await close();
  // Otherwise the server seals them during the measurement.
  if (seal) {
    const filled = await openTestService(folder, env);
    await sealConsents(filled);
    await filled.close();
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const file = path.join(folder, 'data', 'leads.db');
  const size = engine === 'sqlite' ? `, ${Math.round(statSync(file).size / 1e6)} MB` : '';
  process.stdout.write(`${engine}: ${leads.toLocaleString('en')} leads written in ${seconds} s${size}\n`);
}

async function fillTables(db: Db, engine: Engine, leads: number): Promise<void> {
  const n = sql.ref('n');
  const now = Date.now();
  const day = 86_400_000;
  // UUIDv7 begins with its time; these are spread over the past days.
  const at = sql`cast(${sql.lit(now - 91 * day)} + cast(n as bigint) * ${sql.lit(Math.floor((90 * day) / leads))} as bigint)`;
  const hex = (value: typeof at) =>
    engine === 'sqlite' ? sql`printf('%012x', ${value})` : sql`lpad(to_hex(${value}), 12, '0')`;
  const id = (kind: string) =>
    sql`substr(${hex(at)}, 1, 8) || '-' || substr(${hex(at)}, 9) || ${sql.lit(`-7000-80${kind.charCodeAt(0).toString(16)}-`)} || ${hex(n)}`;
  const email = sql`'past-' || n || '@example.com'`;
  const series =
    engine === 'sqlite'
      ? sql`with recursive series(n) as (select 1 union all select n + 1 from series where n < ${sql.lit(leads)})`
      : sql`with series(n) as (select generate_series(1, ${sql.lit(leads)}))`;
  const consent = await db.selectFrom('consent_wordings').select('version').executeTakeFirstOrThrow();
  const fill = (into: string, columns: string, values: ReturnType<typeof sql>) =>
    engine === 'sqlite'
      ? sql`${sql.raw(`insert into ${into} (${columns})`)} ${series} select ${values} from series`.execute(db)
      : sql`${series} ${sql.raw(`insert into ${into} (${columns})`)} select ${values} from series`.execute(
          db,
        );

  await fill(
    'submissions',
    'id, browser_id, name, company, email_typed, email, consent_version, client_address, attribution, flags, created_at, given_at, asked_at, codes_sent, expires_at, verified_at',
    sql`${id('s')}, ${id('b')}, 'Ada Lovelace', 'Analytical Engines', ${email}, ${email}, ${consent.version}, '10.0.0.1', '{}', '', ${at}, ${at}, ${at}, 1, ${at} + 600000, ${at} + 30000`,
  );
  await fill(
    'codes',
    'id, submission_id, email, client_address, secret_id, created_at, expires_at, used_at',
    sql`${id('c')}, ${id('s')}, ${email}, '10.0.0.1', 'past', ${at}, ${at} + 600000, ${at} + 30000`,
  );
  await fill(
    'outbox',
    'id, kind, payload, code_id, recipient, state, attempts, due_at, created_at, finished_at, reply',
    sql`${id('o')}, 'code', '{}', ${id('c')}, ${email}, 'sent', 1, ${at}, ${at}, ${at} + 500, '250 OK'`,
  );
  await fill(
    'leads',
    'id, email, name, company, first_verified_at, last_verified_at, attribution, flags',
    sql`${id('l')}, ${email}, 'Ada Lovelace', 'Analytical Engines', ${at}, ${at}, '{}', ''`,
  );
  await fill(
    'consent_receipts',
    'id, lead_id, submission_id, purpose, consent_version, given_at, verified_at, client_address, verified_from_address, same_browser',
    sql`${id('r')}, ${id('l')}, ${id('s')}, 'guide', ${consent.version}, ${at}, ${at} + 30000, '10.0.0.1', '10.0.0.1', 1`,
  );
  // Housekeeping deletes expired windows; these last through the measurement.
  await fill(
    'limit_windows',
    'key, started_at, ends_at, count',
    sql`'past ' || n, ${at}, ${sql.lit(now + day)}, 1`,
  );
}
