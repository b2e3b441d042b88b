// Kills the server with SIGKILL at random moments, again and again, under a load of whole flows, on both engines. Every
// 202 has to end in a code mail, and every code in a lead. Usage: crash.ts [kills]
import { rmSync } from 'node:fs';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { walkUnderKills } from '#proofs/kills.ts';
import { measuredOn, table, writeReport } from '#proofs/report.ts';
import { brokenPromises, conclude, settle } from '#proofs/verdict.ts';

const KILLS = Number(process.argv[2] ?? 200);

const broken: string[] = [];
const rows: (string | number)[][] = [];
const postgres = await startPostgres();

async function crash(engine: Engine): Promise<void> {
  const { server, inbox, ledger, databaseUrl, folder } = await walkUnderKills(engine, {
    kills: KILLS,
    postgres,
  });
  await server.stop();
  const account = await settle({ databaseUrl, folder }, inbox, ledger);
  broken.push(...brokenPromises(account).map((promise) => `${engine}: ${promise}`));
  rows.push([
    engine,
    KILLS,
    ledger.answers.get('no answer') ?? 0,
    ledger.acknowledged.size,
    account.lostMails,
    account.duplicates,
    ledger.verified.size,
    account.unheardSuccesses,
    account.lostLeads + account.falseSuccesses + account.withoutReceipt,
  ]);
  await inbox.close();
  rmSync(folder, { recursive: true });
}

for (const engine of ENGINES) await crash(engine);
await postgres.stop();
await writeReport(
  'reliability.md',
  'crash',
  `${measuredOn()}\n\n${table(
    [
      'engine',
      'SIGKILLs',
      'requests cut off',
      'forms answered 202',
      'codes lost',
      'codes mailed twice',
      'leads told 200',
      'leads whose answer was cut off',
      'leads lost',
    ],
    rows,
  )}`,
);
conclude(broken);
