// Tests a full disk and a read-only database. Mounting a small disk needs root on Linux. Usage: disk-faults.ts [--dry]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import type { Engine } from '#testing/databases.ts';
import { onPostgres } from '#testing/postgres-server.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { fillDisk, mountSmallDisk } from '#testing/small-disk.ts';
import { lostIn } from '#stress/harness/promises-kept.ts';
import { createProof } from '#stress/harness/proof.ts';
import { newAddress, newLedger, post, walk, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';

const BEFORE = 30;
const DURING = 60;
const AFTER = 30;
const SMALL_DISK = '8m';
const ASK_EVERY_MS = 1_000;
const WELL_WITHIN_MS = 120_000;

type Place = {
  readonly engine: Engine;
  readonly folder: string;
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
  readonly remove: () => Promise<void>;
};

const run = (command: string, ...args: string[]): void => {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
};

const temporaryFolder = () => mkdtempSync(path.join(os.tmpdir(), 'disk-faults-'));

async function smallDisk(): Promise<Place> {
  const folder = temporaryFolder();
  const { unmount } = mountSmallDisk(folder, { size: SMALL_DISK });
  let filler = '';
  return {
    engine: 'sqlite',
    folder,
    begin: async () => {
      filler = fillDisk(folder);
    },
    end: async () => rmSync(filler),
    remove: async () => {
      unmount();
      rmSync(folder, { recursive: true });
    },
  };
}

async function frozenFiles(): Promise<Place> {
  const folder = temporaryFolder();
  const chattr = (flag: string) => {
    const data = path.join(folder, 'data');
    const files = readdirSync(data).filter((name) => /\.db(-wal)?$/.test(name));
    run('chattr', flag, ...files.map((name) => path.join(data, name)));
  };
  return {
    engine: 'sqlite',
    folder,
    begin: async () => chattr('+i'),
    end: async () => chattr('-i'),
    remove: async () => rmSync(folder, { recursive: true }),
  };
}

async function readOnlyPostgres(): Promise<Place> {
  const folder = temporaryFolder();
  const { url } = await proof.postgres();
  const setReadOnly = async (value: 'on' | 'off') => {
    await onPostgres(url, async (client) => {
      await client.query(`alter system set default_transaction_read_only = ${value}`);
      await client.query('select pg_reload_conf()');
    });
    await setTimeout(500);
  };
  return {
    engine: 'postgres',
    folder,
    begin: () => setReadOnly('on'),
    end: () => setReadOnly('off'),
    remove: async () => rmSync(folder, { recursive: true }),
  };
}

async function askHealth(url: string): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(`${url}${API.health}`);
  return { status: response.status, body: await response.text() };
}

async function untilWell(url: string): Promise<number | null> {
  const begun = performance.now();
  while (performance.now() - begun < WELL_WITHIN_MS) {
    if ((await askHealth(url)).status === 200) return performance.now() - begun;
    await setTimeout(ASK_EVERY_MS);
  }
  return null;
}

const proof = createProof('prove:disk');
const rows = proof.rows(
  'fault',
  'answered 202 meanwhile',
  'answered 503 meanwhile',
  'health 503 then',
  'with the sentence',
  'health 200 after',
  'acknowledged in all',
  'lost',
  'leads answered 200',
);

async function suffer(name: string, makePlace: () => Promise<Place>): Promise<void> {
  let place: Place;
  try {
    place = await makePlace();
  } catch (error) {
    process.stdout.write(`${name}: skipped, because ${String(error)}\n`);
    return;
  }
  const site = await proof.prepareSite(place.engine, {
    folder: place.folder,
    env: { ...WITHOUT_LIMITS, LOG_LEVEL: 'fatal' },
    inbox: { onMessage: () => setTimeout(20, null) },
  });
  const { inbox } = site;
  const { url } = await site.start();
  const ledger = newLedger();
  const parts = { url, inbox, ledger };
  const walkMany = (count: number) =>
    Promise.all(Array.from({ length: count }, () => walk(parts, AbortSignal.timeout(60_000))));
  await walkMany(BEFORE);

  const onTheEdge = walkMany(BEFORE);
  await setTimeout(30);
  await place.begin();
  const answers = new Map<number, number>();
  const diagnoses = new Set<string>();
  let sick = 0;
  for (let count = 0; count < DURING; count += 1) {
    const email = newAddress();
    const answer = await post(`${url}${API.leads}`, filledForm({ email }));
    answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
    if (answer.status === 202) ledger.acknowledged.add(email);
    if (answer.status === 503) {
      const health = await askHealth(url);
      if (health.status === 503) sick += 1;
      proof.expect(health.status === 503, `${name}: a form got 503, but health ${health.status}`);
      proof.expect(answer.headers.has('retry-after'), `${name}: no Retry-After`);
      diagnoses.add(health.body);
    }
    proof.expect([202, 503].includes(answer.status), `${name}: ${answer.status} ${answer.body}`);
  }
  const page = await fetch(url);
  proof.expect(page.status === 200, `${name}: the page returned ${page.status}`);
  await place.end();
  const wellAgain = untilWell(url);
  await onTheEdge;
  await walkMany(AFTER);
  const wellAfterMs = await wellAgain;
  proof.expect(wellAfterMs !== null, `${name}: health did not recover`);
  for (const email of ledger.acknowledged) {
    await inbox.waitForMail(email, 1, 60_000).catch(() => ledger.unmailed.add(email));
  }
  const account = await proof.expectKept(name, site, ledger);
  rows.add(
    name,
    answers.get(202) ?? 0,
    answers.get(503) ?? 0,
    sick,
    [...diagnoses].join(' / '),
    wellAfterMs === null ? 'never' : `${Math.round(wellAfterMs / 1000)} s`,
    ledger.acknowledged.size,
    lostIn(account),
    ledger.verified.size,
  );
  await site.close();
  await place.remove();
}

await suffer('SQLite, disk full', smallDisk);
await suffer('SQLite, files read-only', frozenFiles);
await suffer('PostgreSQL, read-only', readOnlyPostgres);
await proof.end(
  `3 faults: ${rows.range('answered 202 meanwhile')} forms answered 202 and ${rows.range('answered 503 meanwhile')} answered 503 meanwhile; ` +
    `health 200 again after ${rows.range('health 200 after')}; of ${rows.range('acknowledged in all')} acknowledged, ${rows.range('lost')} lost`,
  rows.table(),
);
