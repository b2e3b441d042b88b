// What visitors notice while releases change: a real nginx in front, fifty people on the page, and the servers behind it replaced,
// ten times each. In place (npm run restart, with new words each time), two processes on one PostgreSQL, two on one SQLite file; and
// the release before and this one at once on one database.
//   upgrade.ts [place] [postgres] [sqlite] [old] [--from REF] [--times 10] [--visitors 50]
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
import { ENGINES, type Engine } from '#testing/databases.ts';
import { freePort } from '#testing/free-port.ts';
import { startInbox, type Inbox } from '#testing/inbox.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { copyProject } from '#testing/project-copy.ts';
import { siteDatabaseUrl, siteSettings, startSiteProcess, type SiteProcess } from '#testing/start-site.ts';
import { startNginx } from '#proofs/nginx.ts';
import { measuredOn, table, writeReport } from '#proofs/report.ts';
import { brokenPromises, conclude, settle } from '#proofs/verdict.ts';
import { newLedger, walk, WITHOUT_LIMITS, type Ledger } from '#proofs/visitors.ts';

const PARTS = ['place', 'postgres', 'sqlite', 'old'] as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string' },
    times: { type: 'string', default: '10' },
    visitors: { type: 'string', default: '50' },
  },
});
const wants = (part: (typeof PARTS)[number]): boolean =>
  positionals.length === 0 || positionals.includes(part);
const TIMES = Number(values.times);
const VISITORS = Number(values.visitors);
/** Nobody answers a mail at once. */
const LONGEST_PAUSE_MS = 2_000;
/** What this machine does to visitors without any restart: one that is too busy answers 503 to some. */
const CONTROL_MS = 30_000;
/** Between two restarts. */
const REST_MS = 1_000;

const execute = promisify(execFile);
const pause = () => setTimeout(Math.random() * LONGEST_PAUSE_MS);
if (spawnSync('nginx', ['-v']).status !== 0) throw new Error('This proof needs nginx: apt-get install nginx');

/** How long the slowest answer took, in milliseconds, since it was last set to 0. */
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
  /** Pages and assets that were not answered with 200. */
  readonly missing: string[];
};

/** One visitor: the page, its assets, a form, a code; and what the page loads late. */
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

/** Visitors on the page while something happens. */
async function underVisitors(url: string, inbox: Inbox, happening: () => Promise<unknown>): Promise<Seen> {
  const seen: Seen = { ledger: newLedger(), pages: 0, assets: 0, missing: [] };
  const enough = new AbortController();
  // Somebody who opened the page before all of it, and comes back to it afterwards.
  const early = assetsOf(await load(`${url}/`, seen));
  longest = 0;
  const visitors = Array.from({ length: VISITORS }, async () => {
    while (!enough.signal.aborted) await visit(url, inbox, seen, enough.signal);
  });
  await setTimeout(LONGEST_PAUSE_MS);
  try {
    await happening();
    await setTimeout(LONGEST_PAUSE_MS);
  } finally {
    enough.abort();
    await Promise.all(visitors);
  }
  await loadAssets(url, early, seen);
  if (early.length === 0) broken.push('the page named no assets');
  return seen;
}

const rows: (string | number)[][] = [];
const broken: string[] = [];
const requestsOf = ({ ledger, pages, assets }: Seen): number =>
  [...ledger.answers.values()].reduce((sum, count) => sum + count, 0) + pages + assets;
const failedOf = ({ ledger, missing }: Seen): string[] => [
  ...[...ledger.failed].map(([what, count]) => `${what}: ${count}`),
  ...[...new Set(missing)].map(
    (what) => `${what} for a page or asset: ${missing.filter((one) => one === what).length}`,
  ),
];
const countFailed = ({ ledger, missing }: Seen): number =>
  [...ledger.failed.values()].reduce((sum, count) => sum + count, 0) + missing.length;

type Place = { readonly databaseUrl: string; readonly folder: string };

async function report(
  what: string,
  restarts: string,
  place: Place,
  inbox: Inbox,
  seen: Seen,
  isDemanded = true,
) {
  const account = await settle(place, inbox, seen.ledger);
  const lost = account.lostMails + account.lostLeads + account.falseSuccesses + account.unheardSuccesses;
  const row = [
    what,
    restarts,
    requestsOf(seen).toLocaleString('en'),
    countFailed(seen),
    seen.ledger.acknowledged.size,
    lost,
    account.duplicates,
    `${(longest / 1000).toFixed(1)} s`,
  ];
  rows.push(row);
  process.stdout.write(
    `${row.join(' | ')}\n${failedOf(seen)
      .map((line) => `    ${line}\n`)
      .join('')}`,
  );
  if (!isDemanded) return;
  const failures = failedOf(seen).map((line) => `failed: ${line}`);
  const promises = [...brokenPromises(account), ...failures, ...(lost > 0 ? [`${lost} lost`] : [])];
  if (account.duplicates > 0) promises.push(`${account.duplicates} mails came twice`);
  broken.push(...promises.map((promise) => `${what}: ${promise}`));
}

const postgres = await startPostgres();
const settingsFor = (databaseUrl: string, inbox: Inbox) => ({
  ...WITHOUT_LIMITS,
  ...siteSettings(databaseUrl, inbox),
  TRUST_PROXY: '1',
});
const newFolder = () => mkdtempSync(path.join(os.tmpdir(), 'upgrade-'));

/** `npm run restart` in a copy of the project, with other words each time; and, for comparison, a stop and a start. */
async function inPlace(): Promise<void> {
  const { folder: project, remove } = copyProject();
  const folder = newFolder();
  const inbox = await startInbox();
  const databaseUrl = 'file:./data/leads.db';
  const port = await freePort();
  const settings = { ...settingsFor(databaseUrl, inbox), PORT: String(port) };
  writeFileSync(
    path.join(folder, '.env'),
    Object.entries(settings)
      .map(([name, value]) => `${name}="${value}"\n`)
      .join(''),
  );
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], INSTANCE_FOLDER: folder };
  const npm = (script: string) => execute('npm', ['run', '-s', script], { cwd: project, env });
  await npm('build');
  // As `npm start` does it, after its look and its build.
  const start = () => startSiteProcess({ PORT: undefined }, folder, project, 'primary.js');
  let server = await start();
  const nginx = await startNginx([port], { keepsTrying: true });
  const words = path.join(project, 'campaign', 'interface.yaml');
  const undisturbed = await underVisitors(nginx.url, inbox, () => setTimeout(CONTROL_MS));
  const control = `for comparison: nothing restarted, ${CONTROL_MS / 1000} s`;
  await report(control, '0', { databaseUrl, folder }, inbox, undisturbed, false);
  let sentence = '';
  const changeWords = (time: number) =>
    writeFileSync(
      words,
      readFileSync(words, 'utf8').replace(/sending: .*/, `sending: Sending Code ${time}...`),
    );
  const restarted = await underVisitors(nginx.url, inbox, async () => {
    for (let time = 1; time <= TIMES; time += 1) {
      changeWords(time);
      ({ stdout: sentence } = await npm('restart'));
      await setTimeout(REST_MS);
    }
  });
  process.stdout.write(sentence);
  const releases = readdirSync(path.join(project, 'dist', 'releases')).length;
  if (releases !== TIMES + 1) broken.push(`in place: ${releases} releases were built, not ${TIMES + 1}`);
  const place = { databaseUrl, folder };
  await report('one process, `npm run restart`, new words each time', `${TIMES}`, place, inbox, restarted);
  const stopped = await underVisitors(nginx.url, inbox, async () => {
    await server.stop('SIGTERM');
    server = await start();
  });
  await report('for comparison: stopped and started again', '1', place, inbox, stopped, false);
  await nginx.close();
  await server.stop();
  await inbox.close();
  rmSync(folder, { recursive: true });
  remove();
}

/** Two processes on one database, each restarted in its turn. */
async function twoProcesses(engine: Engine): Promise<void> {
  const folder = newFolder();
  const inbox = await startInbox();
  const databaseUrl = await siteDatabaseUrl(engine, postgres.url);
  const env = settingsFor(databaseUrl, inbox);
  const start = (port = 0) => startSiteProcess({ ...env, PORT: String(port) }, folder);
  const servers = [await start(), await start()];
  const restartAll = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      for (const [index, server] of servers.entries()) {
        const code = await server.stop('SIGTERM');
        if (code !== 0) broken.push(`${engine}: a process that was told to stop ended with ${code}`);
        servers[index] = await start(server.port);
        await setTimeout(REST_MS);
      }
    }
  };
  const where = engine === 'sqlite' ? 'one SQLite file' : 'one PostgreSQL';
  for (const { keepsTrying, times, lines } of [
    { keepsTrying: true, times: TIMES, lines: 'nginx as [advised](../operating.md#behind-a-proxy)' },
    { keepsTrying: false, times: 1, lines: 'for comparison: nginx with its defaults' },
  ]) {
    const nginx = await startNginx(
      servers.map(({ port }) => port),
      { keepsTrying },
    );
    const seen = await underVisitors(nginx.url, inbox, () => restartAll(times));
    await report(
      `two processes on ${where}, ${lines}`,
      `${times} each`,
      { databaseUrl, folder },
      inbox,
      seen,
      keepsTrying,
    );
    await nginx.close();
  }
  await Promise.all(servers.map((server) => server.stop()));
  await inbox.close();
  rmSync(folder, { recursive: true });
}

/** As in one checkout, where the files of both releases are found by both. */
const build = (project: string) => execute('node', ['build/build.ts'], { cwd: project });

/** A release of the past as a project of its own, with the packages of today. */
function oldProject(ref: string): string {
  const project = mkdtempSync(path.join(os.tmpdir(), 'lead-page-old-'));
  const archive = execFileSync('git', ['archive', ref], { cwd: PROJECT_FOLDER, maxBuffer: 1e9 });
  execFileSync('tar', ['-x', '-C', project], { input: archive });
  symlinkSync(path.join(PROJECT_FOLDER, 'node_modules'), path.join(project, 'node_modules'));
  // A package that came or changed since is here as it is now.
  cpSync(path.join(PROJECT_FOLDER, 'package.json'), path.join(project, 'package.json'));
  return project;
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: PROJECT_FOLDER, encoding: 'utf8' }).trim();

/** A release before the newest migration and this one, on one database at once; then all of the old one again. */
async function oldAndNew(
  project: string,
  today: string,
  { name, engine }: { name: string; engine: Engine },
): Promise<void> {
  await build(project);
  const folder = newFolder();
  const inbox = await startInbox();
  const databaseUrl = await siteDatabaseUrl(engine, postgres.url);
  const env = settingsFor(databaseUrl, inbox);
  const startOld = (port = 0) =>
    startSiteProcess({ ...env, PORT: String(port) }, folder, project).catch((error: unknown) =>
      String(error),
    );
  const startNew = (port: number) => startSiteProcess({ ...env, PORT: String(port) }, folder, today);
  const first = [await startOld(), await startOld()].filter((server) => typeof server !== 'string');
  const [left, right] = first;
  if (left === undefined || right === undefined)
    throw new Error(`${name} does not start with these packages.`);
  const nginx = await startNginx([left.port, right.port], { keepsTrying: true });
  let newLeft: SiteProcess | undefined;
  let back = '';
  const seen = await underVisitors(nginx.url, inbox, async () => {
    await build(today);
    await left.stop('SIGTERM');
    newLeft = await startNew(left.port);
    // Both at once, on tables that the old one does not know.
    await setTimeout(10_000);
    await build(project);
    await newLeft.stop('SIGTERM');
    const again = await startOld(left.port);
    if (typeof again === 'string') {
      back = /^ {2}- (.*)$/m.exec(again)?.[1] ?? again;
      await build(today);
      newLeft = await startNew(left.port);
    } else {
      newLeft = again;
      back = 'serves';
    }
    await setTimeout(3_000);
  });
  await report(`${name} and this release at once, ${engine}`, '1', { databaseUrl, folder }, inbox, seen);
  process.stdout.write(`${name}, started again on ${engine}: ${back}\n`);
  rows.push([`${name}, started again afterwards, ${engine}: ${back}`, '', '', '', '', '', '', '']);
  // From the release on that knows how, going back is a promise.
  const knowsHow = readFileSync(path.join(project, 'server/db/migrations/migrate.ts'), 'utf8').includes(
    'mayBeNewer',
  );
  if (knowsHow && back !== 'serves') broken.push(`${name} could not be gone back to: ${back}`);
  await nginx.close();
  await Promise.all([right.stop(), newLeft?.stop()]);
  await inbox.close();
  rmSync(folder, { recursive: true });
}

const version = /nginx\/(\S+)/.exec(spawnSync('nginx', ['-v'], { encoding: 'utf8' }).stderr)?.[1];
/** After each part: the rest takes its time. */
async function write(): Promise<void> {
  if (positionals.length > 0) return;
  const head = [
    'what',
    'restarts',
    'requests',
    'failed',
    'forms taken',
    'codes or leads lost',
    'mails twice',
    'longest wait',
  ];
  const [busy = 0] = os.loadavg();
  await writeReport(
    'reliability.md',
    'upgrade',
    `${measuredOn()} nginx ${version}, ${VISITORS} visitors; a load of ${busy.toFixed(0)} at the end.\n\n${table(head, rows)}`,
  );
}

if (wants('place')) await inPlace();
await write();
for (const engine of ENGINES) {
  if (wants(engine)) await twoProcesses(engine);
  await write();
}
if (wants('old')) {
  const newest = git('log', '--diff-filter=A', '--format=%h', '-1', '--', 'server/db/migrations');
  const ref = git('rev-parse', '--short', values.from ?? `${newest}^`);
  const project = oldProject(ref);
  const today = copyProject();
  mkdirSync(path.join(project, 'dist'));
  symlinkSync(path.join(project, 'dist'), path.join(today.folder, 'dist'));
  for (const engine of ENGINES) await oldAndNew(project, today.folder, { name: ref, engine });
  today.remove();
  rmSync(project, { recursive: true });
  await write();
}
await postgres.stop();
conclude(broken);
