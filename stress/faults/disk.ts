// Forms on a full disk, in read-only files and in a read-only PostgreSQL, and afterwards. Needs root on Linux.
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import type { Engine } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { onPostgres } from '#testing/postgres-server.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { fillDisk, whyNoDisk, withSmallDisk } from '#testing/small-disk.ts';
import { defineCase, type Trial } from '#stress/harness/cases.ts';
import type { Rows } from '#stress/harness/report.ts';
import { newEmail, newLedger, post, walk, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';

const BEFORE = 30;
const DURING = 60;
const AFTER = 30;
const SMALL_DISK = '8m';
const ASK_EVERY_MS = 1_000;
const HEALTHY_WITHIN_MS = 120_000;

type Fault = {
  readonly name: string;
  readonly engine: Engine;
  readonly begin: () => unknown;
  readonly end: () => unknown;
};

export const disk = defineCase({}, async (trial) => {
  const rows = trial.rows();
  const reason = whyNoDisk();
  if (reason) process.stdout.write(`SQLite, disk full: skipped, because ${reason}\n`);
  else
    await withSmallDisk({ size: SMALL_DISK }, async (folder) => {
      let filler = '';
      await runWithFault(trial, rows, folder, {
        name: 'SQLite, disk full',
        engine: 'sqlite',
        begin: () => (filler = fillDisk(folder)),
        end: () => rmSync(filler),
      });
    });
  await inFolder((folder) => {
    const change = (flag: string) => {
      const data = path.join(folder, 'data');
      const files = readdirSync(data).filter((name) => /\.db(-wal)?$/.test(name));
      execFileSync('chattr', [flag, ...files.map((name) => path.join(data, name))]);
    };
    return runWithFault(trial, rows, folder, {
      name: 'SQLite, files read-only',
      engine: 'sqlite',
      begin: () => change('+i'),
      end: () => change('-i'),
    });
  });
  const { url } = await trial.postgres();
  const setReadOnly = (value: 'on' | 'off') =>
    onPostgres(url, async (client) => {
      await client.query(`alter system set default_transaction_read_only = ${value}`);
      await client.query('select pg_reload_conf()');
      await setTimeout(500);
    });
  await inFolder((folder) =>
    runWithFault(trial, rows, folder, {
      name: 'PostgreSQL, read-only',
      engine: 'postgres',
      begin: () => setReadOnly('on'),
      end: () => setReadOnly('off'),
    }),
  );
  return (
    `3 faults: ${rows.range('got 202 meanwhile')} forms got 202 and ${rows.range('got 503 meanwhile')} got 503 meanwhile; ` +
    `health 200 again after ${rows.range('health 200 after')}; of ${rows.range('acknowledged in all')} acknowledged, ${rows.range('lost')} lost`
  );
});

async function runWithFault(trial: Trial, rows: Rows, folder: string, { name, engine, begin, end }: Fault) {
  await using site = await trial.prepareSite(engine, {
    folder,
    env: { ...WITHOUT_LIMITS, LOG_LEVEL: 'fatal' },
    inbox: { onMessage: () => setTimeout(20, null) },
  });
  const { inbox } = site;
  const { url } = await site.start();
  const ledger = newLedger();
  const walkMany = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => walk({ url, inbox, ledger }, AbortSignal.timeout(60_000))),
    );
  await walkMany(BEFORE);

  const inFlight = walkMany(BEFORE);
  await setTimeout(30);
  await begin();
  const statusCounts = { 202: 0, 503: 0 };
  const healthReports = new Set<string>();
  for (let count = 0; count < DURING; count += 1) {
    const email = newEmail();
    const { status, body, headers } = await post(`${url}${API.leads}`, filledForm({ email }));
    if (status === 202) {
      statusCounts[202] += 1;
      ledger.acknowledged.add(email);
    } else if (status === 503) {
      statusCounts[503] += 1;
      const health = await fetch(`${url}${API.health}`);
      trial.expect(health.status === 503, `${name}: a form got 503, but health ${health.status}`);
      trial.expect(headers.has('retry-after'), `${name}: no Retry-After`);
      healthReports.add(await health.text());
    } else trial.expect(false, `${name}: ${status} ${body}`);
  }
  const page = await fetch(url);
  trial.expect(page.status === 200, `${name}: the page returned ${page.status}`);
  await end();
  const recovery = waitUntilHealthy(url);
  await inFlight;
  await walkMany(AFTER);
  const recoveryMs = await recovery;
  trial.expect(recoveryMs < Infinity, `${name}: health did not recover`);
  for (const email of ledger.acknowledged)
    await inbox.waitForMail(email, 1, 60_000).catch(() => ledger.unmailed.add(email));
  const account = await trial.expectKept(name, site, ledger);
  rows.add({
    fault: name,
    'got 202 meanwhile': statusCounts[202],
    'got 503 meanwhile': statusCounts[503],
    'with the sentence': [...healthReports].join(' / '),
    'health 200 after': `${Math.round(recoveryMs / 1000)} s`,
    'acknowledged in all': ledger.acknowledged.size,
    lost: account.lost,
    'leads got 200': ledger.verified.size,
  });
}

async function waitUntilHealthy(url: string): Promise<number> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < HEALTHY_WITHIN_MS) {
    if ((await fetch(`${url}${API.health}`)).status === 200) return performance.now() - startedAt;
    await setTimeout(ASK_EVERY_MS);
  }
  return Infinity;
}
