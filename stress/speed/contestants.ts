// Our server runs with production's Node flags, and the floor (floor.ts) without them. Both log to files, because a pipe would load
// the visitors' process.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { PROJECT_FOLDER } from '#build/vite-config.ts';
import { ensureBuilt, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { createPostgresDatabase, ENGINES, type Engine } from '#testing/databases.ts';
import { freePort } from '#testing/free-port.ts';
import { SERVING_FLAGS, siteDatabaseUrl, siteSettings } from '#testing/start-site.ts';
import { endProcess, ownEnvironment } from '#testing/start-program.ts';
import { isServed, until } from '#testing/until.ts';
import type { Trial } from '#stress/harness/cases.ts';
import { median } from '#stress/harness/report.ts';
import { createClient, type Client } from '#stress/speed/client.ts';
import type { Sink } from '#stress/speed/sink.ts';
import { LIMITS_OUT_OF_REACH } from '#stress/harness/visitors.ts';

/** --engine sqlite measures only one. */
export const ENGINE_OPTION = { engine: ENGINES.join() };
export const enginesIn = (named: string): readonly Engine[] =>
  ENGINES.filter((engine) => named.split(',').includes(engine));

export type Surroundings = { readonly trial: Trial; readonly engine: Engine; readonly sink: Sink };

export type Entrant = {
  readonly name: 'ours' | 'floor';
  readonly script: string;
  readonly folder: string;
  readonly databaseUrl: string;
  readonly env: Readonly<Record<string, string>>;
};

export type Contestant = {
  readonly name: Entrant['name'];
  readonly url: string;
  readonly pid: number;
  readonly startMs: number;
  readonly client: Client;
  readonly stop: () => Promise<void>;
};

const START_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 5;
const LOG_FILE = 'server.log';

export async function enterOurs(
  { trial, engine, sink }: Surroundings,
  settings: Readonly<Record<string, string>> = {},
): Promise<Entrant> {
  ensureBuilt(TEST_CAMPAIGN);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'speed-'));
  const server = engine === 'postgres' ? (await trial.postgres()).url : undefined;
  const databaseUrl = await siteDatabaseUrl(engine, server);
  return {
    name: 'ours',
    script: path.join(PROJECT_FOLDER, 'server', 'start.js'),
    folder,
    databaseUrl,
    env: {
      INSTANCE_FOLDER: folder,
      CAMPAIGN_FOLDER: TEST_CAMPAIGN,
      ...LIMITS_OUT_OF_REACH,
      ...siteSettings(databaseUrl, sink),
      ...settings,
    },
  };
}

export async function enterFloor({ trial, engine, sink }: Surroundings): Promise<Entrant> {
  const databaseUrl =
    engine === 'sqlite' ? 'file:floor.db' : await createPostgresDatabase((await trial.postgres()).url);
  return {
    name: 'floor',
    script: path.join(import.meta.dirname, 'floor.ts'),
    folder: mkdtempSync(path.join(os.tmpdir(), 'floor-')),
    databaseUrl,
    env: { DATABASE_URL: databaseUrl, SMTP_URL: sink.url },
  };
}

export async function start({ name, script, folder, env }: Entrant, sink: Sink): Promise<Contestant> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(path.join(folder, LOG_FILE), 'a');
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...(name === 'ours' ? SERVING_FLAGS : []), script], {
    cwd: folder,
    env: { ...ownEnvironment(), ...env, PORT: String(port) },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    await untilServed(url, child);
  } catch (error) {
    process.stderr.write(readFileSync(path.join(folder, LOG_FILE), 'utf8'));
    throw error;
  }
  const startMs = performance.now() - startedAt;
  const client = createClient(url, sink);
  return {
    name,
    url,
    pid: child.pid ?? 0,
    startMs,
    client,
    stop: async () => {
      client.close();
      // Not SIGTERM: our server would wait for visitors who may still arrive.
      await endProcess(child, 'SIGINT');
      process.off('exit', kill);
    },
  };
}

/**
 * Measures start times in turns. The first start, which may create tables, does not count.
 * @returns medians in milliseconds
 */
export async function timeStarts(
  entrants: readonly Entrant[],
  sink: Sink,
  starts: number,
): Promise<number[]> {
  const times = new Map<Entrant, number[]>(entrants.map((entrant) => [entrant, []]));
  for (let count = 0; count <= starts; count += 1) {
    for (const entrant of entrants) {
      const contestant = await start(entrant, sink);
      await contestant.stop();
      if (count > 0) times.get(entrant)?.push(contestant.startMs);
    }
  }
  return [...times.values()].map(median);
}

export const withBoth = async (surroundings: Surroundings, measure: Measure): Promise<void> =>
  withContestants(
    [await enterOurs(surroundings), await enterFloor(surroundings)],
    surroundings.sink,
    measure,
  );

type Measure = (both: readonly [Contestant, Contestant]) => Promise<void>;

export async function withContestants(
  [one, other]: readonly [Entrant, Entrant],
  sink: Sink,
  measure: Measure,
): Promise<void> {
  const both = [await start(one, sink), await start(other, sink)] as const;
  await measure(both);
  for (const contestant of both) await contestant.stop();
  for (const entrant of [one, other]) clear(entrant);
}

export const clear = ({ folder }: Entrant): void => rmSync(folder, { recursive: true });

const untilServed = (url: string, child: ChildProcess): Promise<void> =>
  until(
    () => {
      if (child.exitCode !== null) throw new Error('The server did not start. See its log above.');
      return isServed(url);
    },
    START_WITHIN_MS,
    ASK_EVERY_MS,
  );
