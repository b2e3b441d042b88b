// The desk with a million leads: exports compared with the database's own dump, the consent chain, screens, and visitors during an
// export.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';

import { PROJECT_FOLDER } from '#build/vite-config.ts';
import { COOKIE_HEADERS } from '#desk/endpoints/auth.ts';
import type { PeoplePage } from '#desk/endpoints/people.ts';
import { defineCase, type Trial } from '#stress/harness/cases.ts';
import { peakBytes } from '#stress/harness/consumption.ts';
import { fillHistory, KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { median, type Rows } from '#stress/harness/report.ts';
import { LIMITS_OUT_OF_REACH } from '#stress/harness/visitors.ts';
import { sampleWhile } from '#stress/harness/watch.ts';
import { createClient } from '#stress/speed/client.ts';
import { closedLoop, forMs } from '#stress/speed/loops.ts';
import { startSink, type Sink } from '#stress/speed/sink.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { deskClient } from '#testing/desk-handlers.ts';
import { signInOverHttp, untilDeskAnswers } from '#testing/desk-over-http.ts';
import { freePort } from '#testing/free-port.ts';
import { openTestService } from '#testing/open-test-service.ts';
import type { PreparedSite } from '#testing/start-site.ts';

/** Half of it is used by a command that reads nothing. */
const MAX_MEMORY = 256e6;
const TURNS = 3;
const SAMPLE_EVERY_MS = 20;
const PACKAGE = JSON.parse(readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8')) as {
  readonly scripts: { readonly desk: string };
};
const [, ...DESK] = PACKAGE.scripts.desk.split(' ');
const DUMP = `select l.email, l.name, l.company, l.first_verified_at, l.last_verified_at, r.given_at, r.consent_version, w.text, l.attribution, l.flags
  from leads l left join consent_receipts r on r.id = (select id from consent_receipts where lead_id = l.id order by id desc limit 1)
  left join consent_wordings w on w.version = r.consent_version order by l.id`;

const MAX_SCREEN_MS = 300;
const DAY_MS = 86_400_000;
const ROUNDS = 7;
const TURN_MS = 6_000;
const VISITORS = 16;
/** Promised share of the speed without an export. */
const MIN_RATIO = 0.9;
const ADA = 'ada@example.com';

/** Runs with the lowest priority, because in production the reader is on another machine. */
const READER = `
import { constants, setPriority } from 'node:os';
setPriority(constants.priority.PRIORITY_LOW);
const [, url, session] = process.argv;
let bytes = 0;
let begun = false;
process.once('SIGTERM', () => process.stdout.write(String(bytes), () => process.exit()));
for (;;) {
  const { ok, status, body } = await fetch(url + '/api/export?format=csv', { headers: { '${COOKIE_HEADERS.session}': session } });
  if (!ok) throw new Error('An export got status ' + status);
  for await (const part of body) {
    if (!begun) process.stderr.write('begun\\n');
    begun = true;
    bytes += part.length;
  }
}`;

type Run = { readonly seconds: number; readonly bytes: number };

type Measuring = {
  readonly trial: Trial;
  readonly rows: Rows;
  readonly engine: Engine;
  readonly site: PreparedSite;
};

export const desk = defineCase({ leads: 1_000_000 }, async (trial, { leads }) => {
  await using sink = await startSink();
  const commandRows = trial.rows();
  const screenRows = trial.rows();
  const besideRows = trial.rows();
  for (const program of ['sqlite3', 'psql']) execFileSync(program, ['--version']);
  for (const engine of ENGINES) {
    const port = await freePort();
    await using site = await trial.prepareSite(engine, {
      env: {
        ...LIMITS_OUT_OF_REACH,
        ...KEPT_FOR_EVER,
        LOG_LEVEL: 'error',
        SMTP_URL: sink.url,
        DESK_URL: `http://127.0.0.1:${port}`,
        DESK_PORT: String(port),
        DESK_PEOPLE: `${ADA}:all`,
      },
    });
    await fillHistory({ ...site, engine }, leads, { seal: false });
    await measureCommands({ trial, rows: commandRows, engine, site }, leads);
    await measureScreens({ trial, rows: screenRows, engine, site });
    await measureBesideExport({ trial, rows: besideRows, engine, site }, sink);
  }
  const resultsOf = (engine: Engine) =>
    `${engine}: CSV export ${commandRows.range('seconds', engine, '--format csv')} s ` +
    `(${commandRows.range('ratio', engine, '--format csv')} of the database's own dump), ` +
    `consent anchor ${commandRows.range('seconds', engine, 'anchor')} s, consent verify ${commandRows.range('seconds', engine, 'verify')} s; ` +
    `at most ${commandRows.range('most memory, MB', engine, '--since-last')} MB (export --since-last); ` +
    `slowest request of each page ${screenRows.range('slowest, ms', engine)} ms; ` +
    `${screenRows.range('requests', engine)} requests, ${screenRows.range('all, s', engine)} s to the end of a list`;
  return (
    `${leads.toLocaleString('en')} leads. ${ENGINES.map(resultsOf).join('. ')}. ` +
    `${VISITORS} visitors, medians of ${ROUNDS} turns: ${besideRows.summarize('flows a second', 'during an export', 'ratio')}`
  );
});

const medianOf = (runs: readonly Run[]): Run => ({
  seconds: median(runs.map(({ seconds }) => seconds)),
  bytes: Math.max(...runs.map(({ bytes }) => bytes)),
});

const countLines = (file: string): number => readFileSync(file, 'latin1').split('\n').length - 1;

async function measureCommands({ trial, rows, engine, site }: Measuring, leads: number): Promise<void> {
  const { folder, databaseUrl, env: settings } = site;
  const env = { PATH: process.env['PATH'], INSTANCE_FOLDER: folder, ...settings };
  const runDesk = (...args: readonly string[]) => run(trial, process.execPath, [...DESK, ...args], env);
  const file = path.join(folder, 'leads.csv');
  const dump = path.join(folder, 'dump.csv');
  const [dumpProgram, dumpArgs]: readonly [string, readonly string[]] =
    engine === 'sqlite'
      ? ['sqlite3', ['-csv', path.join(folder, 'data', 'leads.db'), `.once ${dump}`, DUMP]]
      : ['psql', [databaseUrl, '-q', '-c', `\\copy (${DUMP.replaceAll('\n', ' ')}) to '${dump}' csv`]];
  // The runs alternate, so other load affects both.
  const dumps: Run[] = [];
  const exports: Run[] = [];
  const ratios: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const exported = await runDesk('export', '--out', file);
    const dumped = await run(trial, dumpProgram, dumpArgs, env);
    exports.push(exported);
    dumps.push(dumped);
    ratios.push(exported.seconds / dumped.seconds);
  }
  const marked = await runDesk('export', '--since-last', 'crm', '--out', path.join(folder, 'crm.csv'));
  const sealed = await runDesk('consent', 'anchor');
  const verified = await runDesk('consent', 'verify');
  trial.expect(countLines(file) === leads + 1, `${engine}: ${countLines(file)} lines in the export`);
  const dumped = medianOf(dumps);
  const toDump = (seconds: number) => (seconds / dumped.seconds).toFixed(2);
  const inCsv = `export --format csv, ${Math.round(statSync(file).size / 1e6)} MB`;
  for (const [what, { seconds, bytes }, ratio] of [
    [`${dumpProgram}, its own dump, ${Math.round(statSync(dump).size / 1e6)} MB`, dumped, ''],
    [inCsv, medianOf(exports), median(ratios).toFixed(2)],
    ['export --since-last, the first time', marked, toDump(marked.seconds)],
    ['consent anchor, which seals all of them', sealed, ''],
    ['consent verify', verified, ''],
  ] as const) {
    const most = Math.round(bytes / 1e6);
    rows.add({ what, engine, seconds: seconds.toFixed(1), ratio, 'most memory, MB': most });
    trial.expect(bytes <= MAX_MEMORY, `${engine}: ${what} held ${bytes} bytes`);
  }
}

async function run(
  trial: Trial,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Run> {
  const startedAt = performance.now();
  const child = spawn(command, args, { env, cwd: PROJECT_FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
  const { samples, result: end } = await sampleWhile(
    () => memoryOf(child.pid ?? 0),
    SAMPLE_EVERY_MS,
    async () => {
      const [code] = (await once(child, 'exit')) as [number | null];
      trial.expect(code === 0, `${path.basename(command)} ${args.slice(1).join(' ')} ended with ${code}`);
      return performance.now();
    },
  );
  return { seconds: (end - startedAt) / 1000, bytes: Math.max(...samples) };
}

function memoryOf(pid: number): number {
  try {
    return peakBytes(pid);
  } catch {
    return 0;
  }
}

async function measureScreens({ trial, rows, engine, site }: Measuring): Promise<void> {
  const service = await openTestService(site.folder, site.env);
  const { ask, warmUp } = deskClient(service);
  const timed = async <Result>(work: () => Promise<Result>): Promise<readonly [Result, number]> => {
    await setImmediate();
    const startedAt = performance.now();
    const result = await work();
    return [result, performance.now() - startedAt];
  };
  const add = (what: string, times: readonly number[]): void => {
    const slowest = Math.max(...times);
    const all = times.reduce((sum, ms) => sum + ms, 0);
    rows.add({
      what,
      engine,
      requests: times.length,
      'slowest, ms': Math.round(slowest),
      'all, s': (all / 1000).toFixed(1),
    });
    trial.expect(
      slowest <= MAX_SCREEN_MS,
      `${engine}: ${what} took ${Math.round(slowest)} ms in one request`,
    );
  };
  const timeOne = async <Name extends Parameters<typeof ask>[0]>(what: string, name: Name, asked = {}) => {
    const [result, ms] = await timed(() => ask(name, asked));
    add(what, [ms]);
    return result!;
  };
  const timeAllPages = async (what: string, filter: object): Promise<void> => {
    const times: number[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const [page, ms]: readonly [PeoplePage | null, number] = await timed(() =>
        ask('people', { ...filter, ...(after && { after }) }),
      );
      times.push(ms);
      after = page?.next ?? null;
    }
    add(what, times);
  };
  const [, warmMs] = await timed(warmUp);
  process.stdout.write(
    `${engine}: counted past days in ${(warmMs / 1000).toFixed(1)} s, once at the start\n`,
  );
  await timeOne('today', 'today');
  const first = await timeOne('leads, the newest', 'people');
  await timeOne('a person', 'personDetails', { id: first.people[0]!.id });
  const found = await timeOne('the oldest lead', 'people', { search: 'past-1@example.com' });
  trial.expect(found.people.length === 1, `${engine}: the oldest lead was not found`);
  await timeAllPages('a text that no one has, to the end', { search: 'nobody' });
  await timeAllPages('a source that no one came from, to the end', { source: 'webinar' });
  await timeAllPages('suppressed, to the end', { state: 'suppressed' });
  await timeAllPages('unverified, to the end', { state: 'unverified' });
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  await timeOne('leads of a day long ago', 'people', { from: day(60), to: day(60) });
  await timeOne('domains, the first part', 'domains');
  await timeOne('lost, the first part of a month', 'lost', { from: day(30), to: day(0) });
  await service.close();
}

async function measureBesideExport({ trial, rows, engine, site }: Measuring, sink: Sink): Promise<void> {
  const { url } = await site.start();
  const deskUrl = site.env['DESK_URL'] ?? '';
  await untilDeskAnswers(deskUrl);
  const session = (await signInOverHttp(deskUrl, ADA, () => sink.codeFor(ADA)))[COOKIE_HEADERS.session];
  const client = createClient(url, sink);
  const turn = async (): Promise<number> => {
    const measured = await closedLoop(client, { at: VISITORS, shouldContinue: forMs(TURN_MS) });
    trial.expect(measured.failed === 0, `${engine}: ${measured.failed} flows failed: ${measured.failure}`);
    return measured.count / measured.seconds;
  };
  let bytes = 0;
  const turnBesideExport = async (): Promise<number> => {
    const reader = spawn(process.execPath, ['--input-type=module', '-e', READER, deskUrl, session], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = text(reader.stdout);
    await once(reader.stderr, 'data');
    const speed = await turn();
    trial.expect(reader.exitCode === null, `${engine}: the reader of the export ended by itself`);
    reader.kill('SIGTERM');
    bytes += Number(await output);
    return speed;
  };
  const speeds = { alone: [] as number[], duringExport: [] as number[] };
  await turn();
  for (let round = 0; round < ROUNDS; round += 1) {
    speeds.alone.push(await turn());
    speeds.duringExport.push(await turnBesideExport());
  }
  const [alone, duringExport] = [median(speeds.alone), median(speeds.duringExport)];
  rows.add({
    engine,
    'flows a second': alone.toFixed(0),
    'during an export': duringExport.toFixed(0),
    ratio: (duringExport / alone).toFixed(2),
    'exported meanwhile, MB': (bytes / 1e6).toFixed(0),
  });
  trial.expect(
    duringExport / alone >= MIN_RATIO,
    `${engine}: during an export, only ${(duringExport / alone).toFixed(2)} of the speed is left`,
  );
  trial.expect(bytes > 0, `${engine}: nothing was exported`);
  client.close();
}
