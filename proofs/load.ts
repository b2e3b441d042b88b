// Whole flows a second with a thousand leads in the database, and with a million, on both engines. The two databases are
// measured in turns, each turn a few seconds, so that what else the machine does hits both. Usage: load.ts [leads]
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { startInbox, type Inbox } from '#testing/inbox.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { type SiteProcess, siteDatabaseUrl, siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { fillHistory, KEPT_FOR_EVER } from '#proofs/history.ts';
import { measuredOn, median, table, writeReport } from '#proofs/report.ts';
import { conclude } from '#proofs/verdict.ts';
import { keepWalking, LIMITS_OUT_OF_REACH, newLedger } from '#proofs/visitors.ts';

const FEW = 1_000;
const MANY = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 9;
const TURN_MS = 6_000;
const VISITORS = 16;
/** The promise: this share of the speed with few leads is left with many. */
const LEAST_RATIO = 0.9;

const postgres = await startPostgres();

type Contestant = {
  readonly server: SiteProcess;
  readonly close: () => Promise<void>;
};

async function prepare(engine: Engine, leads: number, inbox: Inbox): Promise<Contestant> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'load-'));
  const env = {
    ...LIMITS_OUT_OF_REACH,
    ...KEPT_FOR_EVER,
    LOG_LEVEL: 'error',
    ...siteSettings(await siteDatabaseUrl(engine, postgres.url), inbox),
  };
  await fillHistory({ folder, env, engine }, leads);
  const server = await startSiteProcess(env, folder);
  return {
    server,
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
