// A page as `npm start` runs it, which `npm run restart` asks for another process.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { readRunning, type Running } from '#server/restart/running-page.js';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { KEPT_COMPILED } from '#testing/environment.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';
import { startSiteProcess, type SiteProcess } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const SETTINGS = { APP_SECRET: TEST_SECRET, MAIL_FROM: 'guide@example.com' };
/** A busy machine takes its time to start one process after the other. */
const PATIENCE_MS = 60_000;

export type RunningPage = SiteProcess & {
  /** The processes that have served, by their ids; the newest one last. */
  readonly workers: () => readonly number[];
};

/** Writes the settings of an instance, which a restart reads anew. */
export const writeSettings = (folder: string, env: Readonly<Record<string, string>>): void =>
  writeFileSync(
    path.join(folder, '.env'),
    Object.entries({ PORT: '0', ...env })
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
    { mode: 0o600 },
  );

/**
 * Starts a page, and waits until it can be restarted.
 * @param env its settings, in a file
 */
export async function startPage(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningPage> {
  writeSettings(folder, env);
  const site = await startSiteProcess({ ...SETTINGS, PORT: undefined }, folder, PROJECT_FOLDER, 'primary.js');
  const workers = () =>
    Array.from(site.output().matchAll(/"pid":(\d+),.*"msg":"Server listening/g), ([, pid]) => Number(pid));
  await until(() => workers().length === 1 && existsSync(runningFileIn(folder)), PATIENCE_MS);
  return { ...site, workers };
}

/** Where the process that keeps the port notes what runs. */
export const runningFileIn = (folder: string): string => path.join(folder, 'data', 'server.json');

/** What it has noted. */
export function runningIn(folder: string): Running {
  const running = readRunning(runningFileIn(folder));
  assert.ok(running);
  return running;
}

/**
 * The last step of `npm run restart`: how it ended, and what a terminal shows.
 * @param step another one: its file in server/, and its arguments
 */
export const restartPage = (
  folder: string,
  [file = '', ...args]: readonly string[] = ['restart/restart.ts'],
): Promise<{ readonly code: unknown; readonly said: string }> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(PROJECT_FOLDER, 'server', file), ...args],
      {
        env: { ...SETTINGS, INSTANCE_FOLDER: folder, CAMPAIGN_FOLDER: TEST_CAMPAIGN, ...KEPT_COMPILED },
        timeout: PATIENCE_MS,
      },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    );
  });
