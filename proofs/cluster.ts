// Several processes on one PostgreSQL behind a plain balancer: started all at once on an empty database, restarted one after
// the other under load, and with PostgreSQL restarted under load.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { createPostgresDatabase } from '#testing/databases.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { measuredOn, table, writeReport } from '#proofs/report.ts';
import { startBalancer } from '#proofs/balancer.ts';
import { brokenPromises, conclude, databaseOf, settle } from '#proofs/verdict.ts';
import { keepWalking, newAddress, newLedger, post, WITHOUT_LIMITS, type Ledger } from '#proofs/visitors.ts';

const PROCESSES = 4;
const VISITORS = 16;
const STEADY_MS = 20_000;
const ROUNDS = 5;
const POSTGRES_RESTARTS = 3;

const rows: string[][] = [];
const broken: string[] = [];
const report = (what: string, seen: string, holds = true): void => {
  rows.push([what, seen]);
  process.stdout.write(`${what}: ${seen}\n`);
  if (!holds) broken.push(`${what}: ${seen}`);
};
/** Requests without an answer, and answers from 500 up. */
const failures = ({ answers }: Ledger): number =>
  [...answers].reduce((sum, [status, count]) => (/^[1-4]/.test(status) ? sum : sum + count), 0);
/** Which failures they were. */
const whichFailed = ({ failed }: Ledger): string =>
  failed.size === 0 ? '' : ` (${[...failed].map(([what, count]) => `${what}: ${count}`).join(', ')})`;
const requests = ({ answers }: Ledger): number =>
  [...answers.values()].reduce((sum, count) => sum + count, 0);

const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-'));
const postgres = await startPostgres();
const databaseUrl = await createPostgresDatabase(postgres.url);
const inbox = await startInbox();
const env = {
  ...WITHOUT_LIMITS,
  LOG_LEVEL: 'fatal',
  // Each press of Resend sends: so that the limit for an address can be reached.
  RESEND_SECONDS: '0',
  ...siteSettings(databaseUrl, inbox),
};
const start = (port = 0) => startSiteProcess({ ...env, PORT: String(port) }, folder);

const servers = await Promise.all(Array.from({ length: PROCESSES }, () => start()));
report(`${PROCESSES} processes started at once on an empty database`, 'all ready, each migration run once');
const balancer = await startBalancer(servers.map(({ port }) => port));
const { url } = balancer;

/** Load while something happens; what the visitors saw. */
async function underLoad(happening: () => Promise<unknown>): Promise<Ledger> {
  const ledger = newLedger();
  const enough = new AbortController();
  const traffic = keepWalking({ url, inbox, ledger }, VISITORS, enough.signal);
  await happening();
  enough.abort();
  await traffic;
  for (const line of ledger.wordless) broken.push(`an error without a sentence: ${line}`);
  return ledger;
}

async function expectAllKept(what: string, ledger: Ledger): Promise<void> {
  const account = await settle({ databaseUrl, folder }, inbox, ledger);
  broken.push(...brokenPromises(account).map((promise) => `${what}: ${promise}`));
}

const steady = await underLoad(() => setTimeout(STEADY_MS));
await expectAllKept('steady load', steady);
const { duplicates, mails } = await settle({ databaseUrl, folder }, inbox, steady);
report(
  `${STEADY_MS / 1000} s of load`,
  `${requests(steady)} requests, ${failures(steady)} failed; ${mails} mails, ${duplicates} sent twice`,
  failures(steady) === 0 && duplicates === 0,
);

// A session opened at one process counts at all of them.
const email = newAddress();
const asked = await post(`${servers[0]?.url}${API.leads}`, filledForm({ email }));
const code = codeIn(await inbox.waitForMail(email));
const verified = await post(`${servers[1]?.url}${API.verify}`, { email, code }, asked.cookie);
const articles = await Promise.all(
  servers.map((server) => fetch(`${server.url}${API.article}`, { headers: { cookie: verified.cookie } })),
);
report(
  'asked at one process, verified at the second, read at each',
  `${verified.status}, ${articles.map(({ status }) => status).join(', ')}`,
  verified.status === 200 && articles.every(({ status }) => status === 200),
);

// So does a limit.
const busy = newAddress();
const sends: number[] = [];
for (let count = 0; count < 6; count += 1) {
  const { status } = await post(
    `${servers[count % PROCESSES]?.url}${API.leads}`,
    filledForm({ email: busy }),
  );
  sends.push(status);
  // While a code waits to be mailed, asking again mails no second one.
  if (status === 202) await inbox.waitForMail(busy, count + 1);
}
report(
  'six codes for one address, asked at each process in turn',
  sends.join(', '),
  sends.join() === '202,202,202,202,202,429',
);

const rolling = await underLoad(async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, server] of servers.entries()) {
      const ended = await server.stop('SIGTERM');
      if (ended !== 0) broken.push(`a process that was told to stop ended with ${ended}`);
      servers[index] = await start(server.port);
      await setTimeout(200);
    }
  }
});
await expectAllKept('rolling restarts', rolling);
report(
  `${ROUNDS} rolling restarts of all ${PROCESSES}`,
  `${requests(rolling)} requests, ${failures(rolling)} failed${whichFailed(rolling)}; ${rolling.verified.size} leads`,
  failures(rolling) === 0,
);

const outage = await underLoad(async () => {
  for (let count = 0; count < POSTGRES_RESTARTS; count += 1) {
    await setTimeout(3_000);
    await postgres.restart();
  }
  await setTimeout(3_000);
});
await expectAllKept('PostgreSQL restarts', outage);
report(
  `${POSTGRES_RESTARTS} restarts of PostgreSQL`,
  `${[...outage.answers].map(([status, count]) => `${status}: ${count}`).join(', ')}; ${outage.acknowledged.size} acknowledged, ${outage.unmailed.size + outage.unverified.size} lost`,
  outage.unmailed.size === 0 && !outage.answers.has('500') && !outage.answers.has('no answer'),
);

const { db, close } = databaseOf({ databaseUrl, folder });
const twice = await db
  .selectFrom('leads')
  .select(['email', (eb) => eb.fn.countAll().as('count')])
  .groupBy('email')
  .having((eb) => eb.fn.countAll(), '>', 1)
  .execute();
await close();
if (twice.length > 0) broken.push('an address became two leads');

balancer.close();
await Promise.all(servers.map((server) => server.stop()));
await inbox.close();
await postgres.stop();
rmSync(folder, { recursive: true });
await writeReport(
  'reliability.md',
  'cluster',
  `${measuredOn()}\n\n${table(['what was done', 'what was seen'], rows)}`,
);
conclude(broken);
