// How fast the server is, beside the least that the same work costs: in one run, in turns, on both engines. The ratios are the
// result. Usage: speed.ts [--short] [sqlite|postgres]; npm run measure:server. Replaces the table in docs/performance.md.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { createPostgresDatabase, ENGINES, type Engine } from '#testing/databases.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { siteDatabaseUrl, siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { measuredOn, median, table, writeReport } from '#proofs/report.ts';
import {
  closedLoop,
  createClient,
  openLoop,
  quantile,
  type Client,
  type Measured,
} from '#proofs/speed/client.ts';
import { startSink, type Sink } from '#proofs/speed/sink.ts';

const SHORT = process.argv.includes('--short');
const engines = ENGINES.filter(
  (engine) => !ENGINES.some((name) => process.argv.includes(name)) || process.argv.includes(engine),
);
const TURN_MS = SHORT ? 3_000 : 5_000;
const ROUNDS = SHORT ? 3 : 5;
const WARM_UP_MS = SHORT ? 4_000 : 8_000;
const CLOCK_TICKS_A_SECOND = 100;
const MIB = 1024 ** 2;

type Contestant = {
  readonly name: 'ours' | 'floor';
  readonly client: Client;
  readonly pid: number;
  readonly startMs: number;
  readonly atRest: number;
  readonly stop: () => Promise<void>;
};

/** Seconds of processor time that a process has used. Linux. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_A_SECOND;
}

const residentMib = (pid: number): number =>
  (Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / MIB;

async function startOurs(engine: Engine, postgresUrl: string, sink: Sink): Promise<Contestant> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'speed-'));
  const begun = performance.now();
  const server = await startSiteProcess(
    {
      // As in production behind a proxy: every limit is counted, none is reached.
      TRUST_PROXY: '1',
      LEADS_PER_IP_PER_HOUR: '1000000',
      VERIFY_PER_IP_PER_HOUR: '1000000',
      BREAKER_CODES_PER_MINUTE: '1000000',
      ...siteSettings(await siteDatabaseUrl(engine, postgresUrl), sink),
    },
    folder,
  );
  const startMs = performance.now() - begun;
  const { pid = 0 } = server.child;
  await setTimeout(2_000);
  const client = createClient(server.url, sink);
  return {
    name: 'ours',
    client,
    pid,
    startMs,
    atRest: residentMib(pid),
    stop: async () => {
      client.close();
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function startFloor(engine: Engine, postgresUrl: string, sink: Sink): Promise<Contestant> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'floor-'));
  const begun = performance.now();
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'floor.ts')], {
    env: {
      PATH: process.env['PATH'],
      SMTP_URL: sink.url,
      DATABASE_URL:
        engine === 'sqlite'
          ? `file:${path.join(folder, 'floor.db')}`
          : await createPostgresDatabase(postgresUrl),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The floor did not start.')));
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim().replace('Ready on ', '')));
  });
  const startMs = performance.now() - begun;
  const { pid = 0 } = child;
  await setTimeout(2_000);
  const client = createClient(url, sink);
  return {
    name: 'floor',
    client,
    pid,
    startMs,
    atRest: residentMib(pid),
    stop: async () => {
      client.close();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

type Load = {
  readonly name: string;
  readonly unit: string;
  readonly run: (client: Client) => Promise<Measured>;
};

const LOADS: readonly Load[] = [
  {
    name: 'GET /, 64 at a time',
    unit: 'requests',
    run: ({ get }) => closedLoop(() => get('/'), { at: 64, ms: TURN_MS }),
  },
  ...[1, 32, 128].map((at) => ({
    name: `flows, ${at} at a time`,
    unit: 'flows',
    run: ({ flow }: Client) => closedLoop(flow, { at, ms: TURN_MS }),
  })),
  ...(SHORT ? [] : [20, 100, 200]).map((perSecond) => ({
    name: `flows, ${perSecond} begun a second`,
    unit: 'flows',
    run: ({ flow }: Client) => openLoop(flow, { perSecond, ms: TURN_MS }),
  })),
];

type Turn = {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
};

async function turn({ client, pid }: Contestant, { run }: Load): Promise<Turn> {
  const before = cpuSeconds(pid);
  const seen = await run(client);
  return {
    perSecond: seen.count / seen.seconds,
    cpuMs: ((cpuSeconds(pid) - before) * 1000) / seen.count,
    p50: quantile(seen, 0.5),
    p95: quantile(seen, 0.95),
    p99: quantile(seen, 0.99),
    p999: quantile(seen, 0.999),
  };
}

const rows: (string | number)[][] = [];
const memory: (string | number)[][] = [];
const postgres = await startPostgres();
for (const engine of engines) {
  const sink = await startSink();
  const pair = [
    await startOurs(engine, postgres.url, sink),
    await startFloor(engine, postgres.url, sink),
  ] as const;
  for (const { client } of pair) await closedLoop(client.flow, { at: 32, ms: WARM_UP_MS });
  for (const load of LOADS) {
    const turns: Record<Contestant['name'], Turn[]> = { ours: [], floor: [] };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const contestant of pair) turns[contestant.name].push(await turn(contestant, load));
    const of = (name: Contestant['name'], what: keyof Turn) => median(turns[name].map((one) => one[what]));
    const both = (what: keyof Turn, digits: number) =>
      `${of('ours', what).toFixed(digits)} of ${of('floor', what).toFixed(digits)} (${(of('ours', what) / of('floor', what)).toFixed(2)})`;
    const row = [
      load.name,
      engine,
      both('perSecond', 0),
      both('cpuMs', 2),
      both('p50', 1),
      both('p95', 1),
      both('p99', 1),
      both('p999', 1),
    ];
    rows.push(row);
    process.stdout.write(`${row.join(' | ')}\n`);
  }
  const [ours, floor] = pair;
  const row = [
    engine,
    `${ours.startMs.toFixed(0)} of ${floor.startMs.toFixed(0)} ms`,
    `${ours.atRest.toFixed(0)} of ${floor.atRest.toFixed(0)} MiB`,
    `${residentMib(ours.pid).toFixed(0)} of ${residentMib(floor.pid).toFixed(0)} MiB`,
  ];
  memory.push(row);
  process.stdout.write(`${row.join(' | ')}\n`);
  for (const contestant of pair) await contestant.stop();
  sink.close();
}
await postgres.stop();
await writeReport(
  'performance.md',
  'server',
  `${measuredOn()} Server, visitors and mail server on the same cores; medians of ${ROUNDS} turns of ${TURN_MS / 1000} s. Each cell: ours of the floor's (ratio); times in ms.\n\n${table(
    ['load', 'engine', 'a second', 'processor time each', 'p50', 'p95', 'p99', 'p99.9'],
    rows,
  )}\n\n${table(['engine', 'start to ready', 'memory at rest', 'after the loads above'], memory)}`,
);
