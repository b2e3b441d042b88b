// PostgreSQL failovers under load: kill and promote, kill the standby, switch over. Usage: failover.ts [rounds] [--dry]
import { setTimeout } from 'node:timers/promises';

import { deriveSecrets } from '#server/secrets/secrets.ts';
import { verifyChain } from '#server/consent/check.ts';
import { API } from '#shared/api.ts';
import { startEndpoint } from '#testing/postgres-endpoint.ts';
import { startPostgresPair } from '#testing/postgres-pair.ts';
import { filledForm, TEST_SECRET } from '#testing/server-under-test.ts';
import { databaseOf } from '#stress/harness/promises-kept.ts';
import { startBalancer } from '#stress/harness/balancer.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import {
  newAddress,
  post,
  describeCounts,
  walkWhile,
  WITHOUT_LIMITS,
  type Ledger,
} from '#stress/harness/visitors.ts';
import { watchWhile } from '#stress/harness/watch.ts';

const ROUNDS = argument(0, 5);
const VISITORS = 16;
const NOTICED_AFTER_MS = 2_000;
const STANDBY_AWAY_MS = 20_000;
const BACK_WITHIN_MS = 15_000;
/** 10 s for a statement, 2 s until it is cancelled, 5 s for a connection, plus this machine's delays. */
const ANSWERED_WITHIN_MS = 20_000;

const HEALTH_EVERY_MS = 100;

const proof = createProof('prove:failover');
const { expect } = proof;
const rows = proof.rows(
  'what was done',
  'until forms are taken again',
  'answers',
  'slowest',
  'acknowledged',
  'lost',
);
const pair = await startPostgresPair();
await pair.a.ask('create database leads');
const endpoint = await startEndpoint(pair.a.port);
const site = await proof.prepareSite('postgres', {
  databaseUrl: pair.a.url.replace(/:\d+\/postgres$/, `:${endpoint.port}/leads`),
  env: { ...WITHOUT_LIMITS, LOG_LEVEL: 'silent' },
});
const servers = await Promise.all([site.start(), site.start()]);
const balancer = await startBalancer(servers.map(({ port }) => port));
let primary = pair.a;
let standby = pair.b;
const changePlaces = (): void => {
  [primary, standby] = [standby, primary];
  endpoint.leadTo(primary.port);
};

type Health = { readonly at: number; readonly status: number };
const askHealth = (): Promise<Health[]> =>
  Promise.all(
    servers.map(async ({ url }) => {
      const { status } = await fetch(`${url}${API.health}`);
      return { at: Date.now(), status };
    }),
  );

type Seen = {
  readonly ledger: Ledger;
  readonly health: readonly Health[];
  readonly slowestMs: number;
};

async function underLoad(what: string, happening: () => Promise<unknown>): Promise<Seen> {
  const { looks, result: ledger } = await watchWhile(askHealth, HEALTH_EVERY_MS, () =>
    walkWhile({ url: balancer.url, inbox: site.inbox }, VISITORS, async () => {
      await setTimeout(2_000);
      await happening();
      await setTimeout(5_000);
    }),
  );
  const slowestMs = Math.max(...ledger.heard.map(({ afterMs }) => afterMs));
  const unforeseen = [...ledger.answers.keys()].filter((status) => !['200', '202', '503'].includes(status));
  expect(unforeseen.length === 0, `${what}: unexpected responses ${unforeseen.join(', ')}`);
  expect(slowestMs <= ANSWERED_WITHIN_MS, `${what}: a response took ${slowestMs} ms`);
  await proof.expectKept(what, site, ledger);
  const { db, close } = databaseOf(site);
  const chain = await verifyChain(db, {
    secrets: deriveSecrets([TEST_SECRET]),
    now: Date.now(),
  });
  await close();
  expect(chain.errorCount === 0, `${what}: the consent chain has ${chain.errorCount} errors`);
  return { ledger, health: looks.flat(), slowestMs };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const backAt = ({ heard }: Ledger, since: number): number =>
  heard.find(({ at, status }) => at >= since && status === '202')?.at ?? Infinity;
const addRow = (what: string, { ledger, slowestMs }: Seen, out: string): void => {
  const lost = ledger.unmailed.size + ledger.unverified.size;
  rows.add(what, out, describeCounts(ledger.answers), seconds(slowestMs), ledger.acknowledged.size, lost);
};

for (let round = 1; round <= ROUNDS; round += 1) {
  let killedAt = 0;
  let promotedAt = 0;
  const killed = await underLoad(`${round}: the primary is killed`, async () => {
    await primary.stop('SIGKILL');
    killedAt = Date.now();
    await setTimeout(NOTICED_AFTER_MS);
    await standby.promote();
    endpoint.leadTo(standby.port);
    promotedAt = Date.now();
    await setTimeout(BACK_WITHIN_MS / 3);
  });
  const back = backAt(killed.ledger, promotedAt);
  expect(
    back - promotedAt <= BACK_WITHIN_MS,
    `${round}: out for ${back - promotedAt} ms after the promotion`,
  );
  const sick = killed.health.filter(({ at, status }) => at > killedAt && status === 503).length;
  expect(
    sick > 0 && killed.health.at(-1)?.status === 200,
    `${round}: health did not return 503 and then 200`,
  );
  addRow(
    `${round}: primary killed, standby promoted ${seconds(promotedAt - killedAt)} later`,
    killed,
    `${seconds(Math.max(0, back - promotedAt))} after it`,
  );
  changePlaces();
  await standby.copyFrom(primary);
  await primary.waitForStandby(true);
  await primary.untilReplicated();

  const away = await underLoad(`${round}: the standby is away`, async () => {
    await standby.stop('SIGKILL');
    await setTimeout(STANDBY_AWAY_MS);
    await standby.start();
    await primary.untilReplicated();
  });
  addRow(`${round}: standby away for ${STANDBY_AWAY_MS / 1000} s`, away, 'as long as it is away');

  let endedAt = 0;
  const changed = await underLoad(`${round}: the two change places`, async () => {
    await primary.stop('SIGINT');
    endedAt = Date.now();
    await standby.promote();
    changePlaces();
    await standby.follow(primary);
    await primary.waitForStandby(true);
    await primary.untilReplicated();
  });
  const again = backAt(changed.ledger, endedAt);
  expect(
    again - endedAt <= BACK_WITHIN_MS,
    `${round}: out for ${again - endedAt} ms after an orderly change`,
  );
  addRow(`${round}: the two change places in order`, changed, seconds(again - endedAt));
}

// A process that still reaches the old primary cannot detect this, because its commits wait for a missing standby.
const old = primary;
await old.stop('SIGKILL');
await standby.promote();
changePlaces();
await old.start();
const seesOld = await site.start({ DATABASE_URL: old.url.replace(/postgres$/, 'leads') }).catch(() => null);
const refused =
  seesOld === null ? null : await post(`${seesOld.url}${API.leads}`, filledForm({ email: newAddress() }));
expect(
  refused === null || refused.status === 503,
  `split brain: the old process returned ${refused?.status}`,
);
const split =
  refused === null ? 'does not start: its commits wait for a standby' : `answers ${refused.status}`;
process.stdout.write(`split brain: ${split}\n`);

balancer.close();
await site.close();
endpoint.close();
await pair.close();
await proof.end(
  `${ROUNDS} rounds. Primary killed, standby promoted: forms back ${rows.range('until forms are taken again', 'promoted')}. ` +
    `Standby away: slowest response ${rows.range('slowest', 'away')}. Orderly change: back after ` +
    `${rows.range('until forms are taken again', 'in order')}. Lost: ${rows.range('lost')}. ` +
    `A process that reaches only the old primary ${split}`,
  rows.table(),
);
