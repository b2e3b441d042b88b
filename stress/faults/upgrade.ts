// Visitors behind nginx while servers restart.
import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { freePort } from '#testing/free-port.ts';
import { startOnHeldSocket } from '#testing/held-socket.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { copyProject } from '#testing/project-copy.ts';
import { startProxy } from '#testing/proxies.ts';
import type { PreparedSite } from '#testing/start-site.ts';
import { defineCase, type Trial } from '#stress/harness/cases.ts';
import type { Rows } from '#stress/harness/report.ts';
import {
  attempt,
  newLedger,
  send,
  sumOf,
  walk,
  whileVisited,
  WITHOUT_LIMITS,
  type Ledger,
} from '#stress/harness/visitors.ts';

const LONGEST_PAUSE_MS = 2_000;
const REST_MS = 1_000;
const SETTINGS = { ...WITHOUT_LIMITS, TRUST_PROXY: '1' };

type Upgrade = {
  readonly trial: Trial;
  readonly rows: Rows;
  readonly times: number;
  readonly visitors: number;
};

export const upgrade = defineCase({ times: 10, visitors: 50 }, async (trial, { times, visitors }) => {
  const nginxProgram = findProgram('nginx');
  if (nginxProgram === undefined) throw new Error(notTested('nginx'));
  // Accepts the tests' certificate, only in this process.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const rows = trial.rows();
  const common = { trial, rows, times, visitors };
  await inPlace(common);
  for (const engine of ENGINES) await twoProcesses(common, engine);
  const version = /nginx\/(\S+)/.exec(spawnSync(nginxProgram, ['-v'], { encoding: 'utf8' }).stderr)?.[1];
  const [busy = 0] = os.loadavg();
  return (
    `nginx ${version}, ${visitors} visitors, load ${busy.toFixed(0)}. Two processes restarted ${times} times each: ` +
    `${rows.range('requests', 'two')} requests, ${rows.range('failed', 'two')} failed, longest wait ${rows.range('longest wait', 'two')}`
  );
});

/** Updates a copy of the project. */
async function inPlace(common: Upgrade): Promise<void> {
  const { trial, times } = common;
  using copy = copyProject();
  const project = copy.path;
  const port = await freePort();
  await using site = await trial.prepareSite('sqlite', { env: { ...SETTINGS, PORT: String(port) } });
  const { CAMPAIGN_FOLDER: _, ...env } = site.env;
  await build(project);
  const page = await startOnHeldSocket(env, site.folder, { port, project });
  const words = path.join(project, 'campaign', 'interface.yaml');
  await using nginx = await startNginx(common, site, [port]);
  const what = 'one process on a socket of systemd, new words each time';
  await nginx.report(what, `${times}`, async () => {
    for (let time = 1; time <= times; time += 1) {
      const changed = readFileSync(words, 'utf8').replace(/sending: .*/, `sending: Sending Code ${time}...`);
      writeFileSync(words, changed);
      await build(project);
      await page.restart();
      await setTimeout(REST_MS);
    }
  });
  const releases = readdirSync(path.join(project, 'dist', 'releases')).length;
  trial.expect(releases === times + 1, `in place: ${releases} releases were built instead of ${times + 1}`);
  await page.stop();
}

async function twoProcesses(common: Upgrade, engine: Engine): Promise<void> {
  const { trial, times } = common;
  await using site = await trial.prepareSite(engine, { env: SETTINGS });
  const startOnPort = async (port: number) => site.start({ PORT: String(port) });
  const servers = [await startOnPort(await freePort()), await startOnPort(await freePort())];
  const ports = servers.map(({ port }) => port);
  const restartAll = async () => {
    for (const [index, server] of servers.entries()) {
      const code = await server.stop('SIGTERM');
      trial.expect(code === 0, `${engine}: a process ended with ${code} on SIGTERM`);
      servers[index] = await startOnPort(server.port);
      await setTimeout(REST_MS);
    }
  };
  const what = `two processes on ${engine === 'sqlite' ? 'one SQLite file' : 'one PostgreSQL'}`;
  await using nginx = await startNginx(common, site, ports);
  await nginx.report(what, `${times} each`, async () => {
    for (let time = 0; time < times; time += 1) await restartAll();
  });
}

const build = (project: string) => promisify(execFile)('node', ['build/build.ts'], { cwd: project });

async function startNginx({ trial, rows, visitors }: Upgrade, site: PreparedSite, pages: readonly number[]) {
  const https = await freePort();
  const proxy = await startProxy('nginx', { http: await freePort(), https, pages }, 'root');
  const url = `https://localhost:${https}`;
  return {
    [Symbol.asyncDispose]: proxy.close,
    report: async (what: string, restarts: string, work: () => Promise<unknown>): Promise<void> => {
      const ledger = newLedger();
      const early = assetsOf(await load(ledger, `${url}/`));
      trial.expect(early.length > 0, 'the page contains no assets');
      await whileVisited(
        visitors,
        (signal) => visit(url, site, ledger, signal),
        async () => {
          await setTimeout(LONGEST_PAUSE_MS);
          await work();
          await setTimeout(LONGEST_PAUSE_MS);
        },
      );
      for (const asset of early) await load(ledger, url + asset);

      const account = await trial.expectKept(what, site, ledger);
      const lost = account.lost + account.unacknowledgedLeads;
      const longestMs = Math.max(...ledger.timings.map(({ afterMs }) => afterMs));
      rows.add({
        what,
        restarts,
        requests: sumOf(ledger.statusCounts).toLocaleString('en'),
        failed: sumOf(ledger.failed),
        'forms taken': ledger.acknowledged.size,
        'codes or leads lost': lost,
        'mails twice': account.duplicates,
        'longest wait': `${(longestMs / 1000).toFixed(1)} s`,
      });
      for (const [failure, count] of ledger.failed) {
        process.stdout.write(`    ${failure}: ${count}\n`);
        trial.expect(false, `${what}: failed: ${failure}: ${count}`);
      }
      trial.expect(lost === 0, `${what}: ${lost} lost`);
      trial.expect(account.duplicates === 0, `${what}: ${account.duplicates} mails came twice`);
    },
  };
}

async function visit(
  url: string,
  { inbox }: PreparedSite,
  ledger: Ledger,
  signal: AbortSignal,
): Promise<void> {
  const assets = assetsOf(await load(ledger, `${url}/`));
  await pause();
  for (const asset of assets.slice(0, 1)) await load(ledger, url + asset);
  await pause();
  const waitForMail: typeof inbox.waitForMail = async (...mail) => {
    const received = await inbox.waitForMail(...mail);
    await pause();
    return received;
  };
  await walk({ url, inbox: { waitForMail }, ledger }, signal);
  for (const asset of assets.slice(1)) await load(ledger, url + asset);
}

const pause = () => setTimeout(Math.random() * LONGEST_PAUSE_MS);

async function load(ledger: Ledger, url: string): Promise<string> {
  const response = await attempt(ledger, () => send(url), 'file');
  return response?.body ?? '';
}

const assetsOf = (page: string): string[] => [...new Set(page.match(/\/assets\/[\w-]+\.js/g))];
