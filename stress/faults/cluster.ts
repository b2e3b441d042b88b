// Several processes on one PostgreSQL: started together, restarted under load, and PostgreSQL restarted.
import { setTimeout } from 'node:timers/promises';

import { startForwarder } from '#testing/forwarder.ts';
import { freePort } from '#testing/free-port.ts';
import { defineCase } from '#stress/harness/cases.ts';
import { databaseOf } from '#stress/harness/promises-kept.ts';
import { describeCounts, sumOf, walkWhile, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';

const PROCESSES = 4;
const VISITORS = 16;
const STEADY_MS = 20_000;
const POSTGRES_RESTARTS = 3;

export const cluster = defineCase({ rounds: 5 }, async (trial, { rounds }) => {
  const rows = trial.rows();
  const report = (what: string, result: string, holds = true): void => {
    rows.add({ 'what was done': what, result });
    trial.expect(holds, `${what}: ${result}`);
  };
  await using site = await trial.prepareSite('postgres', {
    env: { ...WITHOUT_LIMITS, LOG_LEVEL: 'fatal' },
  });
  const { inbox } = site;
  const servers = await Promise.all(
    Array.from({ length: PROCESSES }, async () => site.start({ PORT: String(await freePort()) })),
  );
  report(`${PROCESSES} processes started at once on an empty database`, 'all ready, each migration run once');
  await using balancer = await startForwarder(...servers.map(({ port }) => port));
  const url = `http://127.0.0.1:${balancer.port}`;
  const underLoad = async (what: string, work: () => Promise<unknown>) => {
    const ledger = await walkWhile({ url, inbox }, VISITORS, work);
    return { ...ledger, account: await trial.expectKept(what, site, ledger) };
  };

  const steady = await underLoad('steady load', () => setTimeout(STEADY_MS));
  const { duplicates, mails } = steady.account;
  report(
    `${STEADY_MS / 1000} s of load`,
    `${sumOf(steady.statusCounts)} requests, ${sumOf(steady.failed)} failed; ${mails} mails, ${duplicates} sent twice`,
    sumOf(steady.failed) === 0 && duplicates === 0,
  );

  const rolling = await underLoad('rolling restarts', async () => {
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, server] of servers.entries()) {
        const ended = await server.stop('SIGTERM');
        trial.expect(ended === 0, `a process ended with ${ended} on SIGTERM`);
        servers[index] = await site.start({ PORT: String(server.port) });
        await setTimeout(200);
      }
    }
  });
  const whichFailed = rolling.failed.size === 0 ? '' : ` (${describeCounts(rolling.failed)})`;
  report(
    `${rounds} rolling restarts of all ${PROCESSES}`,
    `${sumOf(rolling.statusCounts)} requests, ${sumOf(rolling.failed)} failed${whichFailed}; ${rolling.verified.size} leads`,
    sumOf(rolling.failed) === 0,
  );

  const postgres = await trial.postgres();
  const outage = await underLoad('PostgreSQL restarts', async () => {
    for (let count = 0; count < POSTGRES_RESTARTS; count += 1) {
      await setTimeout(3_000);
      await postgres.restart();
    }
    await setTimeout(3_000);
  });
  report(
    `${POSTGRES_RESTARTS} restarts of PostgreSQL`,
    `${describeCounts(outage.statusCounts)}; ${outage.acknowledged.size} acknowledged, ${outage.unmailed.size + outage.unverified.size} lost`,
    outage.unmailed.size === 0 && !outage.statusCounts.has('500') && !outage.statusCounts.has('no response'),
  );

  await using database = databaseOf(site);
  const emails = await database.db.selectFrom('leads').select('email').execute();
  trial.expect(
    new Set(emails.map((lead) => lead.email)).size === emails.length,
    'one e-mail address became two leads',
  );
  return (
    `${rounds} rolling restarts of ${PROCESSES} processes: ${rows.range('result', 'rolling')}. ` +
    `${POSTGRES_RESTARTS} restarts of PostgreSQL: ${rows.range('result', 'restarts of PostgreSQL')}`
  );
});
