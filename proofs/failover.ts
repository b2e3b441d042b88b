// Two processes on a PostgreSQL with a synchronous standby, under load: the primary is killed and the standby promoted, the standby is
// killed, the two change places in order, and the old primary comes back as a second one.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { chainSignerOf, deriveSecrets } from '#server/secrets/secrets.ts';
import { verifyChain } from '#server/db/across/consent-check.ts';
import { API } from '#shared/api.ts';
import { startInbox } from '#testing/inbox.ts';
import { startPostgresPair } from '#testing/postgres-pair.ts';
import { filledForm, TEST_SECRET } from '#testing/server-under-test.ts';
import { siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { startBalancer } from '#proofs/balancer.ts';
import { measuredOn, table, writeReport } from '#proofs/report.ts';
import { brokenPromises, conclude, databaseOf, settle } from '#proofs/verdict.ts';
import { keepWalking, newAddress, newLedger, post, WITHOUT_LIMITS, type Ledger } from '#proofs/visitors.ts';

const ROUNDS = 5;
const VISITORS = 16;
/** How long whoever watches takes to see that the primary is gone. */
const NOTICED_AFTER_MS = 2_000;
const STANDBY_AWAY_MS = 20_000;
/** What is promised: that visitors are served again so soon after the promotion. */
const BACK_WITHIN_MS = 15_000;
/** No answer takes longer: a statement's 10 s, 2 s until it is given up, 5 s for a connection, and what the machine adds. */
const ANSWERED_WITHIN_MS = 20_000;

const broken: string[] = [];
const expect = (holds: boolean, sentence: string): void => {
  if (!holds) broken.push(sentence);
};

const folder = mkdtempSync(path.join(os.tmpdir(), 'failover-'));
const pair = await startPostgresPair();
await pair.a.ask('create database leads');
const databaseUrl = pair.url('leads');
const inbox = await startInbox();
const env = { ...WITHOUT_LIMITS, LOG_LEVEL: 'silent', ...siteSettings(databaseUrl, inbox) };
const servers = await Promise.all([startSiteProcess(env, folder), startSiteProcess(env, folder)]);
const balancer = await startBalancer(servers.map(({ port }) => port));
let primary = pair.a;
let standby = pair.b;
const changePlaces = (): void => {
  [primary, standby] = [standby, primary];
};

/** What the two processes say of themselves, again and again. */
async function watchHealth(signal: AbortSignal): Promise<{ at: number; status: number }[]> {
  const seen: { at: number; status: number }[] = [];
  while (!signal.aborted) {
    await Promise.all(
      servers.map(async ({ url }) => {
        const { status } = await fetch(`${url}${API.health}`);
        seen.push({ at: Date.now(), status });
      }),
    );
    await setTimeout(100);
  }
  return seen;
}

type Seen = {
  readonly ledger: Ledger;
  readonly health: readonly { readonly at: number; readonly status: number }[];
  readonly slowestMs: number;
};

/** Load while something happens, and until everything has calmed down. */
async function underLoad(what: string, happening: () => Promise<unknown>): Promise<Seen> {
  const ledger = newLedger();
  const enough = new AbortController();
  const traffic = keepWalking({ url: balancer.url, inbox, ledger }, VISITORS, enough.signal);
  const health = watchHealth(enough.signal);
  await setTimeout(2_000);
  await happening();
  await setTimeout(5_000);
  enough.abort();
  await traffic;
  const slowestMs = Math.max(...ledger.heard.map(({ afterMs }) => afterMs));
  for (const line of new Set(ledger.wordless)) broken.push(`${what}: an error without a sentence: ${line}`);
  const unforeseen = [...ledger.answers.keys()].filter((status) => !['200', '202', '503'].includes(status));
  expect(unforeseen.length === 0, `${what}: answers ${unforeseen.join(', ')}`);
  expect(slowestMs <= ANSWERED_WITHIN_MS, `${what}: an answer took ${slowestMs} ms`);
  const account = await settle({ databaseUrl, folder }, inbox, ledger);
  broken.push(...brokenPromises(account).map((promise) => `${what}: ${promise}`));
  const { db, close } = databaseOf({ databaseUrl, folder });
  const chain = await verifyChain(db, {
    signer: chainSignerOf(deriveSecrets([TEST_SECRET])),
    now: Date.now(),
  });
  await close();
  expect(chain.faults.length === 0, `${what}: the chain of proofs has ${chain.faults.length} faults`);
  const seen = { ledger, health: await health, slowestMs };
  process.stdout.write(`${what}: ${sayAnswers(ledger)}; slowest ${slowestMs} ms\n`);
  return seen;
}

const sayAnswers = ({ answers }: Ledger): string =>
  [...answers].map(([status, count]) => `${status}: ${count}`).join(', ');
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
/** When forms were taken again. */
const backAt = ({ heard }: Ledger, since: number): number =>
  heard.find(({ at, status }) => at >= since && status === '202')?.at ?? Infinity;
const rowOf = (what: string, { ledger, slowestMs }: Seen, out: string): string[] => {
  const lost = ledger.unmailed.size + ledger.unverified.size;
  return [what, out, sayAnswers(ledger), seconds(slowestMs), String(ledger.acknowledged.size), String(lost)];
};

const rows: string[][] = [];
for (let round = 1; round <= ROUNDS; round += 1) {
  let killedAt = 0;
  let promotedAt = 0;
  const killed = await underLoad(`${round}: the primary is killed`, async () => {
    await primary.stop('SIGKILL');
    killedAt = Date.now();
    await setTimeout(NOTICED_AFTER_MS);
    await standby.promote();
    promotedAt = Date.now();
    await setTimeout(BACK_WITHIN_MS / 3);
  });
  const back = backAt(killed.ledger, promotedAt);
  expect(
    back - promotedAt <= BACK_WITHIN_MS,
    `${round}: out for ${back - promotedAt} ms after the promotion`,
  );
  const sick = killed.health.filter(({ at, status }) => at > killedAt && status === 503).length;
  expect(sick > 0 && killed.health.at(-1)?.status === 200, `${round}: health did not say 503 and then 200`);
  rows.push(
    rowOf(
      `${round}: primary killed, standby promoted ${seconds(promotedAt - killedAt)} later`,
      killed,
      `${seconds(Math.max(0, back - promotedAt))} after it`,
    ),
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
  rows.push(rowOf(`${round}: standby away for ${STANDBY_AWAY_MS / 1000} s`, away, 'as long as it is away'));

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
  rows.push(rowOf(`${round}: the two change places in order`, changed, seconds(again - endedAt)));
}

// Two that take writes. A process that sees both takes the one that was promoted last; one that sees the old one alone is told
// nothing, and its commits wait for a standby that is not there.
const old = primary;
await old.stop('SIGKILL');
await standby.promote();
changePlaces();
await old.start();
const [seesBoth, seesOld] = await Promise.all([
  startSiteProcess(env, folder),
  startSiteProcess({ ...env, DATABASE_URL: old.url.replace(/postgres$/, 'leads') }, folder).catch(() => null),
]);
const email = newAddress();
const taken = await post(`${seesBoth.url}${API.leads}`, filledForm({ email }));
await inbox.waitForMail(email);
const atNew = await primary.ask("select 1 from pg_stat_activity where datname = 'leads'");
expect(taken.status === 202 && atNew.length > 0, 'split brain: whoever sees both did not take the new one');
const refused =
  seesOld === null ? null : await post(`${seesOld.url}${API.leads}`, filledForm({ email: newAddress() }));
expect(refused === null || refused.status === 503, `split brain: the old one answered ${refused?.status}`);
const split = `whoever sees both uses the new one (${taken.status}); whoever sees the old one alone ${refused === null ? 'does not start: its commits wait for a standby' : `answers ${refused.status}`}`;
process.stdout.write(`split brain: ${split}\n`);

balancer.close();
await Promise.all([...servers, seesBoth, ...(seesOld === null ? [] : [seesOld])].map((one) => one.stop()));
await inbox.close();
await pair.close();
rmSync(folder, { recursive: true });
await writeReport(
  'reliability.md',
  'failover',
  `${measuredOn()}\n\n${table(
    ['what was done', 'until forms are taken again', 'answers', 'slowest', 'acknowledged', 'lost'],
    rows,
  )}\n\nThe old primary back as a second one: ${split}.`,
);
conclude(broken);
