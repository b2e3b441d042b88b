// Whole flows a second with a thousand leads in the database, and with a million, on both engines. The two databases are
// measured in turns, each turn a few seconds, so that what else the machine does hits both. Usage: load.ts [leads]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { sql } from 'kysely';

import type { Db } from '#server/db/connect.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { startInbox, type Inbox } from '#testing/inbox.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { openTestService } from '#testing/open-test-service.ts';
import { type SiteProcess, siteDatabaseUrl, siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { measuredOn, median, table, writeReport } from '#proofs/report.ts';
import { conclude } from '#proofs/verdict.ts';
import { keepWalking, newLedger } from '#proofs/visitors.ts';

const FEW = 1_000;
const MANY = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 9;
const TURN_MS = 6_000;
const VISITORS = 16;
/** The promise: this share of the speed with few leads is left with many. */
const LEAST_RATIO = 0.9;

const postgres = await startPostgres();

/** What so many visitors of the last ninety days leave behind in each table. */
async function fillHistory(db: Db, engine: Engine, leads: number): Promise<void> {
  const n = sql.ref('n');
  const hex = engine === 'sqlite' ? sql`printf('%012x', ${n})` : sql`lpad(to_hex(n), 12, '0')`;
  const now = Date.now();
  const day = 86_400_000;
  // Ids of version 7 begin with their time; spread over the days that are past.
  const at = sql`cast(${sql.lit(now - 91 * day)} + cast(n as bigint) * ${sql.lit(Math.floor((90 * day) / leads))} as bigint)`;
  const id = (kind: string) => sql`'0191-' || ${hex} || ${sql.lit(`-${kind}`)}`;
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
    'challenges',
    'id, browser_id, email, codes_sent, wrong_tries, created_at, expires_at, verified_at',
    sql`${id('h')}, ${id('b')}, ${email}, 1, 0, ${at}, ${at} + 600000, ${at} + 30000`,
  );
  await fill(
    'submissions',
    'id, challenge_id, name, company, email_typed, email, consent_version, client_address, attribution, flags, created_at',
    sql`${id('s')}, ${id('h')}, 'Ada Lovelace', 'Analytical Engines', ${email}, ${email}, ${consent.version}, '10.0.0.1', '{}', '', ${at}`,
  );
  await fill(
    'codes',
    'id, challenge_id, email, client_address, secret_id, created_at, expires_at, used_at',
    sql`${id('c')}, ${id('h')}, ${email}, '10.0.0.1', 'past', ${at}, ${at} + 600000, ${at} + 30000`,
  );
  await fill(
    'outbox',
    'id, code_id, recipient, state, attempts, due_at, created_at, finished_at, reply',
    sql`${id('o')}, ${id('c')}, ${email}, 'sent', 1, ${at}, ${at}, ${at} + 500, '250 OK'`,
  );
  await fill(
    'leads',
    'id, email, name, company, first_verified_at, last_verified_at, attribution, flags',
    sql`${id('l')}, ${email}, 'Ada Lovelace', 'Analytical Engines', ${at}, ${at}, '{}', ''`,
  );
  await fill(
    'consent_receipts',
    'id, lead_id, submission_id, consent_version, given_at, verified_at, client_address, verified_from_address',
    sql`${id('r')}, ${id('l')}, ${id('s')}, ${consent.version}, ${at}, ${at} + 30000, '10.0.0.1', '10.0.0.1'`,
  );
  await fill(
    'limit_windows',
    'key, started_at, ends_at, count',
    sql`'past ' || n, ${at}, ${at} + 3600000, 1`,
  );
  await sql`analyze`.execute(db);
}

type Contestant = {
  readonly server: SiteProcess;
  readonly close: () => Promise<void>;
  readonly size: string;
};

async function prepare(engine: Engine, leads: number, inbox: Inbox): Promise<Contestant> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'load-'));
  const env = {
    // As in production behind a proxy: every limit is counted, none is reached.
    TRUST_PROXY: '1',
    LEADS_PER_IP_PER_HOUR: '1000000',
    VERIFY_PER_IP_PER_HOUR: '1000000',
    BREAKER_CODES_PER_MINUTE: '1000000',
    LOG_LEVEL: 'error',
    ...siteSettings(await siteDatabaseUrl(engine, postgres.url), inbox),
  };
  const service = await openTestService(folder, env);
  const { database } = service;
  const start = performance.now();
  await database.db.connection().execute(async (connection) => {
    if (engine === 'postgres') await sql`set statement_timeout = 0`.execute(connection);
    await fillHistory(connection, engine, leads);
  });
  await service.close();
  const file = path.join(folder, 'data', 'leads.db');
  const size = engine === 'sqlite' ? `${Math.round(statSync(file).size / 1e6)} MB` : '';
  process.stdout.write(
    `${engine}: ${leads} leads written in ${((performance.now() - start) / 1000).toFixed(0)} s ${size}\n`,
  );
  const server = await startSiteProcess(env, folder);
  return {
    server,
    size,
    close: async () => {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Flows a second over one turn. */
async function turn({ server }: Contestant, inbox: Inbox): Promise<number> {
  const ledger = newLedger();
  const enough = new AbortController();
  const start = performance.now();
  const traffic = keepWalking({ url: server.url, inbox, ledger }, VISITORS, enough.signal);
  await setTimeout(TURN_MS);
  enough.abort();
  await traffic;
  return ledger.verified.size / ((performance.now() - start) / 1000);
}

const rows: (string | number)[][] = [];
const broken: string[] = [];
for (const engine of ENGINES) {
  const inbox = await startInbox();
  const few = await prepare(engine, FEW, inbox);
  const many = await prepare(engine, MANY, inbox);
  const speeds = { few: [] as number[], many: [] as number[] };
  await turn(few, inbox);
  await turn(many, inbox);
  for (let round = 0; round < ROUNDS; round += 1) {
    speeds.few.push(await turn(few, inbox));
    speeds.many.push(await turn(many, inbox));
    process.stdout.write(
      `${engine}: ${speeds.few.at(-1)?.toFixed(1)} and ${speeds.many.at(-1)?.toFixed(1)} flows a second\n`,
    );
  }
  const ratio = median(speeds.many) / median(speeds.few);
  rows.push([engine, median(speeds.few).toFixed(0), median(speeds.many).toFixed(0), ratio.toFixed(2)]);
  if (ratio < LEAST_RATIO)
    broken.push(`${engine}: with ${MANY} leads only ${ratio.toFixed(2)} of the speed is left`);
  await few.close();
  await many.close();
  await inbox.close();
}
await postgres.stop();
await writeReport(
  'reliability.md',
  'load',
  `${measuredOn()} One server process, one mail server and all visitors on the same two cores; medians of ${ROUNDS} turns each.\n\n${table(
    [
      'engine',
      `flows a second with ${FEW.toLocaleString('en')} leads`,
      `with ${MANY.toLocaleString('en')} leads`,
      'ratio',
    ],
    rows,
  )}`,
);
conclude(broken);
