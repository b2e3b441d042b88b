// Kills the server with SIGKILL at random moments, again and again, under a load of whole flows, on both engines. Every
// 202 has to end in a code mail, and every code in a lead. Usage: crash.ts [kills]
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { startInbox } from '#testing/inbox.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { siteDatabaseUrl, siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { measuredOn, table, writeReport } from '#proofs/report.ts';
import { brokenPromises, conclude, settle } from '#proofs/verdict.ts';
import { keepWalking, newLedger, WITHOUT_LIMITS } from '#proofs/visitors.ts';

const KILLS = Number(process.argv[2] ?? 200);
const VISITORS = 12;
/** The moment of the kill after the server said it was ready: from at once to well into its work. */
const LONGEST_LIFE_MS = 1_200;
/** SMTP servers take a while; so a kill often finds mail in hand. */
const SMTP_DELAY_MS = 20;

const broken: string[] = [];
const rows: (string | number)[][] = [];
const postgres = await startPostgres();

async function crash(engine: Engine): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'crash-'));
  const inbox = await startInbox({
    onMessage: async () => {
      await setTimeout(Math.random() * 2 * SMTP_DELAY_MS);
      return null;
    },
  });
  const databaseUrl = await siteDatabaseUrl(engine, postgres.url);
  const env = {
    ...WITHOUT_LIMITS,
    ...siteSettings(databaseUrl, inbox),
  };
  let server = await startSiteProcess(env, folder);
  const { port, url } = server;
  const ledger = newLedger();
  const enough = new AbortController();
  const traffic = keepWalking({ url, inbox, ledger }, VISITORS, enough.signal);
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await setTimeout(Math.random() * LONGEST_LIFE_MS);
    await server.stop('SIGKILL');
    server = await startSiteProcess({ ...env, PORT: String(port) }, folder);
    if (kill % 20 === 0) {
      process.stdout.write(`${engine}: ${kill} kills, ${ledger.acknowledged.size} acknowledged\n`);
    }
  }
  enough.abort();
  await traffic;
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
