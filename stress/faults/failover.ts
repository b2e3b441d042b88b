// PostgreSQL failovers under load: kill and promote, kill the standby, switch over.
import { setTimeout } from 'node:timers/promises';

import { verifyChain } from '#server/consent/check.ts';
import { deriveSecrets } from '#server/secrets/secrets.ts';
import { API } from '#shared/api.ts';
import { startForwarder } from '#testing/forwarder.ts';
import { startPostgresPair } from '#testing/postgres-pair.ts';
import { filledForm, TEST_SECRET } from '#testing/server-under-test.ts';
import { defineCase } from '#stress/harness/cases.ts';
import { databaseOf } from '#stress/harness/promises-kept.ts';
import { describeCounts, newEmail, post, walkWhile, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';
import { sampleWhile } from '#stress/harness/watch.ts';

const VISITORS = 16;
const NOTICED_AFTER_MS = 2_000;
const STANDBY_AWAY_MS = 20_000;
const BACK_WITHIN_MS = 15_000;
/** 10 s for a statement, 2 s until it is cancelled, 5 s for a connection, plus this machine's delays. */
const RESPONSE_WITHIN_MS = 20_000;
const HEALTH_EVERY_MS = 100;
const DONE = 'what was done';
const BACK = 'until forms are taken again';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const failover = defineCase({ rounds: 5 }, async (trial, { rounds }) => {
  const { expect } = trial;
  const rows = trial.rows();
  await using pair = await startPostgresPair();
  await pair.a.ask('create database leads');
  await using endpoint = await startForwarder(pair.a.port);
  await using site = await trial.prepareSite('postgres', {
    databaseUrl: pair.a.url.replace(/:\d+\/postgres$/, `:${endpoint.port}/leads`),
    env: { ...WITHOUT_LIMITS, LOG_LEVEL: 'silent' },
  });
  const servers = await Promise.all([site.start(), site.start()]);
  await using balancer = await startForwarder(...servers.map(({ port }) => port));
  let [primary, standby] = [pair.a, pair.b];
  const promoteStandby = async (): Promise<void> => {
    await standby.promote();
    [primary, standby] = [standby, primary];
    endpoint.forwardTo(primary.port);
  };
  const untilReplicated = async (): Promise<void> => {
    await primary.waitForStandby(true);
    await primary.untilReplicated();
  };
  const askHealth = () =>
    Promise.all(
      servers.map(async ({ url }) => {
        const { status } = await fetch(`${url}${API.health}`);
        return { at: Date.now(), status };
      }),
    );

  /** @param work returns when forms should be accepted again */
  async function underLoad(what: string, work: () => Promise<number>) {
    let due = 0;
    const { samples, result: ledger } = await sampleWhile(askHealth, HEALTH_EVERY_MS, () =>
      walkWhile({ url: `http://127.0.0.1:${balancer.port}`, inbox: site.inbox }, VISITORS, async () => {
        await setTimeout(2_000);
        due = await work();
        await setTimeout(5_000);
      }),
    );
    const { timings, statusCounts, acknowledged, unmailed, unverified } = ledger;
    const slowestMs = Math.max(...timings.map(({ afterMs }) => afterMs));
    const unexpected = [...statusCounts.keys()].filter((status) => !['200', '202', '503'].includes(status));
    expect(unexpected.length === 0, `${what}: unexpected responses ${unexpected.join(', ')}`);
    expect(slowestMs <= RESPONSE_WITHIN_MS, `${what}: a response took ${slowestMs} ms`);
    await trial.expectKept(what, site, ledger);
    await using database = databaseOf(site);
    const chain = await verifyChain(database.db, { secrets: deriveSecrets([TEST_SECRET]), now: Date.now() });
    expect(chain.errorCount === 0, `${what}: the consent chain has ${chain.errorCount} errors`);
    const backMs = (timings.find(({ at, status }) => at >= due && status === '202')?.at ?? Infinity) - due;
    expect(backMs <= BACK_WITHIN_MS, `${what}: out for ${backMs} ms`);
    const figures = {
      responses: describeCounts(statusCounts),
      slowest: seconds(slowestMs),
      acknowledged: acknowledged.size,
      lost: unmailed.size + unverified.size,
    };
    return { backMs, figures, health: samples.flat() };
  }

  for (let round = 1; round <= rounds; round += 1) {
    let [killedAt, promotedAt] = [0, 0];
    const killed = await underLoad(`${round}: the primary is killed`, async () => {
      await primary.stop('SIGKILL');
      killedAt = Date.now();
      await setTimeout(NOTICED_AFTER_MS);
      await promoteStandby();
      promotedAt = Date.now();
      await setTimeout(BACK_WITHIN_MS / 3);
      return promotedAt;
    });
    const wasSick = killed.health.some(({ at, status }) => at > killedAt && status === 503);
    expect(
      wasSick && killed.health.at(-1)?.status === 200,
      `${round}: health did not return 503 and then 200`,
    );
    rows.add({
      [DONE]: `${round}: primary killed, standby promoted ${seconds(promotedAt - killedAt)} later`,
      [BACK]: `${seconds(killed.backMs)} after it`,
      ...killed.figures,
    });
    await standby.copyFrom(primary);
    await untilReplicated();

    const away = await underLoad(`${round}: the standby is away`, async () => {
      await standby.stop('SIGKILL');
      await setTimeout(STANDBY_AWAY_MS);
      await standby.start();
      await primary.untilReplicated();
      return Date.now();
    });
    rows.add({
      [DONE]: `${round}: standby away for ${STANDBY_AWAY_MS / 1000} s`,
      [BACK]: 'as long as it is away',
      ...away.figures,
    });

    const changed = await underLoad(`${round}: the two change places`, async () => {
      await primary.stop('SIGINT');
      const endedAt = Date.now();
      await promoteStandby();
      await standby.follow(primary);
      await untilReplicated();
      return endedAt;
    });
    rows.add({
      [DONE]: `${round}: the two change places in order`,
      [BACK]: seconds(changed.backMs),
      ...changed.figures,
    });
  }

  // A process that still reaches the old primary cannot detect this, because its commits wait for a missing standby.
  const old = primary;
  await old.stop('SIGKILL');
  await promoteStandby();
  await old.start();
  const seesOld = await site.start({ DATABASE_URL: old.url.replace(/postgres$/, 'leads') }).catch(() => null);
  const refused =
    seesOld === null ? null : await post(`${seesOld.url}${API.leads}`, filledForm({ email: newEmail() }));
  expect(
    refused === null || refused.status === 503,
    `split brain: the old process returned ${refused?.status}`,
  );
  const split =
    refused === null ? 'does not start: its commits wait for a standby' : `responds with ${refused.status}`;
  process.stdout.write(`split brain: ${split}\n`);
  return (
    `${rounds} rounds. Primary killed, standby promoted: forms back ${rows.range(BACK, 'promoted')}. ` +
    `Standby away: slowest response ${rows.range('slowest', 'away')}. Orderly change: back after ` +
    `${rows.range(BACK, 'in order')}. Lost: ${rows.range('lost')}. ` +
    `A process that reaches only the old primary ${split}`
  );
});
