// Fifty visitors behind nginx while servers restart or change their release.
// upgrade.ts [place] [postgres] [sqlite] [old] [--from REF] [--times 10] [--visitors 50] [--dry]
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';

import { PROJECT_FOLDER } from '#build/vite-config.ts';
import { MIGRATIONS } from '#server/db/migrations/migrate.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { freePort } from '#testing/free-port.ts';
import type { Inbox } from '#testing/inbox.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { startOnHeldSocket } from '#testing/held-socket.ts';
import { copyProject } from '#testing/project-copy.ts';
import { startProxy } from '#testing/proxies.ts';
import { startSiteProcess, type PreparedSite, type SiteProcess } from '#testing/start-site.ts';
import { lostIn, settle } from '#stress/harness/promises-kept.ts';
import { createProof } from '#stress/harness/proof.ts';
import {
  countFailed,
  countRequests,
  newLedger,
  walk,
  whileVisited,
  WITHOUT_LIMITS,
  type Ledger,
} from '#stress/harness/visitors.ts';

const PARTS = ['place', 'postgres', 'sqlite', 'old'] as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string' },
    times: { type: 'string', default: '10' },
    visitors: { type: 'string', default: '50' },
    dry: { type: 'boolean' },
  },
});
const wants = (part: (typeof PARTS)[number]): boolean =>
  positionals.length === 0 || positionals.includes(part);
const TIMES = Number(values.times);
const VISITORS = Number(values.visitors);
const LONGEST_PAUSE_MS = 2_000;
/** A run without restarts for comparison, because a busy machine may also return 503. */
const CONTROL_MS = 30_000;
const REST_MS = 1_000;

const execute = promisify(execFile);
const pause = () => setTimeout(Math.random() * LONGEST_PAUSE_MS);
const nginxProgram = findProgram('nginx');
if (nginxProgram === undefined) throw new Error(notTested('nginx'));
// Accepts the tests' certificate, only in this process.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';

let longest = 0;
const begun = new WeakMap<object, number>();
subscribe('undici:request:create', (message) =>
  begun.set((message as { request: object }).request, performance.now()),
);
subscribe('undici:request:trailers', (message) => {
  const from = begun.get((message as { request: object }).request);
  if (from !== undefined) longest = Math.max(longest, performance.now() - from);
});

type Seen = {
  readonly ledger: Ledger;
  pages: number;
  assets: number;
  readonly missing: string[];
};

async function visit(url: string, inbox: Inbox, seen: Seen, signal: AbortSignal): Promise<void> {
  const page = await load(`${url}/`, seen);
  seen.pages += 1;
  const assets = assetsOf(page);
  await pause();
  await loadAssets(url, assets.slice(0, 1), seen);
  await pause();
  await walk({ url, inbox, ledger: seen.ledger, pauseForCode: pause }, signal);
  await loadAssets(url, assets.slice(1), seen);
}

async function load(address: string, seen: Seen): Promise<string> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(30_000) });
    const text = await response.text();
    if (response.status !== 200) seen.missing.push(`${response.status}`);
    return text;
  } catch (error) {
    seen.missing.push(String(error instanceof Error ? (error.cause ?? error) : error));
    return '';
  }
}

async function loadAssets(url: string, assets: readonly string[], seen: Seen): Promise<void> {
  for (const asset of assets) {
    await load(url + asset, seen);
    seen.assets += 1;
  }
}

const assetsOf = (page: string): string[] => [...new Set(page.match(/\/assets\/[\w-]+\.js/g))];

const proof = createProof('prove:upgrade', positionals.length === 0);
const rows = proof.rows(
  'what',
  'restarts',
  'requests',
  'failed',
  'forms taken',
  'codes or leads lost',
  'mails twice',
  'longest wait',
);

type Behind = {
  readonly site: PreparedSite;
  readonly ports: readonly number[];
  readonly withDefaults?: boolean;
};
type UnderVisitors = (happening: () => Promise<unknown>) => Promise<Seen>;

async function behindNginx(
  { site, ports, withDefaults = false }: Behind,
  act: (underVisitors: UnderVisitors) => Promise<void>,
): Promise<void> {
  const https = await freePort();
  const nginx = await startProxy('nginx', { http: await freePort(), https, pages: ports }, { withDefaults });
  const url = `https://localhost:${https}`;
  await act(async (happening) => {
    const seen: Seen = { ledger: newLedger(), pages: 0, assets: 0, missing: [] };
    const early = assetsOf(await load(`${url}/`, seen));
    longest = 0;
    await whileVisited(
      VISITORS,
      (signal) => visit(url, site.inbox, seen, signal),
      async () => {
        await setTimeout(LONGEST_PAUSE_MS);
        await happening();
        await setTimeout(LONGEST_PAUSE_MS);
      },
    );
    await loadAssets(url, early, seen);
    proof.expect(early.length > 0, 'the page contains no assets');
    return seen;
  });
  await nginx.close();
}

const failuresOf = ({ ledger, missing }: Seen): string[] => [
  ...Array.from(ledger.failed, ([what, count]) => `${what}: ${count}`),
  ...Array.from(
    new Set(missing),
    (what) => `${what} for a page or asset: ${missing.filter((one) => one === what).length}`,
  ),
];

/** @param isDemanded false for a comparison, which may fail */
async function report(what: string, restarts: string, site: PreparedSite, seen: Seen, isDemanded = true) {
  const { ledger, pages, assets, missing } = seen;
  const account = await (isDemanded ? proof.expectKept(what, site, ledger) : settle(site, ledger));
  const lost = lostIn(account) + account.unheardSuccesses;
  rows.add(
    what,
    restarts,
    (countRequests(ledger) + pages + assets).toLocaleString('en'),
    countFailed(ledger) + missing.length,
    ledger.acknowledged.size,
    lost,
    account.duplicates,
    `${(longest / 1000).toFixed(1)} s`,
  );
  for (const line of failuresOf(seen)) {
    process.stdout.write(`    ${line}\n`);
    proof.expect(!isDemanded, `${what}: failed: ${line}`);
  }
  proof.expect(!isDemanded || lost === 0, `${what}: ${lost} lost`);
  proof.expect(!isDemanded || account.duplicates === 0, `${what}: ${account.duplicates} mails came twice`);
}

const SETTINGS = { ...WITHOUT_LIMITS, TRUST_PROXY: '1' };

/** Updates a copy of the project. Stopping and starting it is measured for comparison. */
async function inPlace(): Promise<void> {
  const { folder: project, remove } = copyProject();
  const port = await freePort();
  const site = await proof.prepareSite('sqlite', { env: { ...SETTINGS, PORT: String(port) } });
  const { CAMPAIGN_FOLDER: _, ...env } = site.env;
  await build(project);
  const page = await startOnHeldSocket(env, site.folder, { port, project });
  const words = path.join(project, 'campaign', 'interface.yaml');
  const changeWords = (time: number) =>
    writeFileSync(
      words,
      readFileSync(words, 'utf8').replace(/sending: .*/, `sending: Sending Code ${time}...`),
    );
  await behindNginx({ site, ports: [port] }, async (underVisitors) => {
    const undisturbed = await underVisitors(() => setTimeout(CONTROL_MS));
    await report(`for comparison: nothing restarted, ${CONTROL_MS / 1000} s`, '0', site, undisturbed, false);
    const restarted = await underVisitors(async () => {
      for (let time = 1; time <= TIMES; time += 1) {
        changeWords(time);
        await build(project);
        await page.restart();
        await setTimeout(REST_MS);
      }
    });
    const releases = readdirSync(path.join(project, 'dist', 'releases')).length;
    proof.expect(releases === TIMES + 1, `in place: ${releases} releases were built instead of ${TIMES + 1}`);
    await report('one process on a socket of systemd, new words each time', `${TIMES}`, site, restarted);
    await page.stop();
    let server = await startSiteProcess(env, site.folder, project);
    const stopped = await underVisitors(async () => {
      await server.stop('SIGTERM');
      server = await startSiteProcess(env, site.folder, project);
    });
    await report('for comparison: stopped and started again without a socket', '1', site, stopped, false);
    await server.stop();
  });
  await site.close();
  remove();
}

async function twoProcesses(engine: Engine): Promise<void> {
  const site = await proof.prepareSite(engine, { env: SETTINGS });
  const servers = [await site.start(), await site.start()];
  const restartAll = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      for (const [index, server] of servers.entries()) {
        const code = await server.stop('SIGTERM');
        proof.expect(code === 0, `${engine}: a process ended with ${code} on SIGTERM`);
        servers[index] = await site.start({ PORT: String(server.port) });
        await setTimeout(REST_MS);
      }
    }
  };
  const where = engine === 'sqlite' ? 'one SQLite file' : 'one PostgreSQL';
  for (const { withDefaults, times, lines } of [
    { withDefaults: false, times: TIMES, lines: 'nginx as advised' },
    { withDefaults: true, times: 1, lines: 'for comparison: nginx with its defaults' },
  ]) {
    const ports = servers.map(({ port }) => port);
    await behindNginx({ site, ports, withDefaults }, async (underVisitors) => {
      const seen = await underVisitors(() => restartAll(times));
      await report(`two processes on ${where}, ${lines}`, `${times} each`, site, seen, !withDefaults);
    });
  }
  await site.close();
}

/** Builds in the same checkout, so both releases find each other's files. */
const build = (project: string) => execute('node', ['build/build.ts'], { cwd: project });

function oldProject(ref: string): string {
  const project = mkdtempSync(path.join(os.tmpdir(), 'lead-page-old-'));
  const archive = execFileSync('git', ['archive', ref], { cwd: PROJECT_FOLDER, maxBuffer: 1e9 });
  execFileSync('tar', ['-x', '-C', project], { input: archive });
  symlinkSync(path.join(PROJECT_FOLDER, 'node_modules'), path.join(project, 'node_modules'));
  cpSync(path.join(PROJECT_FOLDER, 'package.json'), path.join(project, 'package.json'));
  return project;
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: PROJECT_FOLDER, encoding: 'utf8' }).trim();

async function oldAndNew(
  project: string,
  today: string,
  { name, engine }: { name: string; engine: Engine },
): Promise<void> {
  await build(project);
  const site = await proof.prepareSite(engine, { env: SETTINGS });
  const { CAMPAIGN_FOLDER: _, ...env } = site.env;
  const startIn = (folder: string, port: number) =>
    startSiteProcess({ ...env, PORT: String(port) }, site.folder, folder);
  const startOld = (port = 0) => startIn(project, port).catch((error: unknown) => String(error));
  const first = [await startOld(), await startOld()].filter((server) => typeof server !== 'string');
  const [left, right] = first;
  if (left === undefined || right === undefined)
    throw new Error(`${name} does not start with these packages.`);
  let newLeft: SiteProcess | undefined;
  let back = '';
  await behindNginx({ site, ports: [left.port, right.port] }, async (underVisitors) => {
    const seen = await underVisitors(async () => {
      await build(today);
      await left.stop('SIGTERM');
      newLeft = await startIn(today, left.port);
      // Both releases run on tables that the old one does not know.
      await setTimeout(10_000);
      await build(project);
      await newLeft.stop('SIGTERM');
      const again = await startOld(left.port);
      if (typeof again === 'string') {
        back = /^ {2}- (.*)$/m.exec(again)?.[1] ?? again;
        await build(today);
        newLeft = await startIn(today, left.port);
      } else {
        newLeft = again;
        back = 'serves';
      }
      await setTimeout(3_000);
    });
    await report(`${name} and this release at once, ${engine}`, '1', site, seen);
  });
  rows.add(`${name}, started again afterwards, ${engine}: ${back}`, '', '', '', '', '', '', '');
  // Only releases that support newer databases are promised to start again.
  const knowsHow = readFileSync(path.join(project, 'server/db/migrations/migrate.ts'), 'utf8').includes(
    'mayBeNewer',
  );
  proof.expect(!knowsHow || back === 'serves', `${name} does not start on the newer database: ${back}`);
  await Promise.all([right.stop(), newLeft?.stop()]);
  await site.close();
}

if (wants('place')) await inPlace();
for (const engine of ENGINES) if (wants(engine)) await twoProcesses(engine);
// A single migration means that no previous release exists.
if (wants('old') && (values.from !== undefined || Object.keys(MIGRATIONS).length > 1)) {
  const newest = git('log', '--diff-filter=A', '--format=%h', '-1', '--', 'server/db/migrations');
  const ref = git('rev-parse', '--short', values.from ?? `${newest}^`);
  const project = oldProject(ref);
  const today = copyProject();
  mkdirSync(path.join(project, 'dist'));
  symlinkSync(path.join(project, 'dist'), path.join(today.folder, 'dist'));
  for (const engine of ENGINES) await oldAndNew(project, today.folder, { name: ref, engine });
  today.remove();
  rmSync(project, { recursive: true });
}
const version = /nginx\/(\S+)/.exec(spawnSync(nginxProgram, ['-v'], { encoding: 'utf8' }).stderr)?.[1];
const [busy = 0] = os.loadavg();
await proof.end(
  `nginx ${version}, ${VISITORS} visitors, load ${busy.toFixed(0)}. Two processes restarted ten times each: ` +
    `${rows.range('requests', 'advised')} requests, ${rows.range('failed', 'advised')} failed, longest wait ${rows.range('longest wait', 'advised')}. ` +
    `With nginx's defaults, once each: ${rows.range('failed', 'defaults')} failed. ` +
    `Stopped and started without a proxy: ${rows.range('failed', 'stopped and started')} failed`,
  rows.table(),
);
