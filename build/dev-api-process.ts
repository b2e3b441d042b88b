// The development API has no mail account, webhooks or access to the instance's database, so nothing leaves this machine.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';

import { readCampaignFolder } from '#server/settings/env-file.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';

const EXTERNAL_SETTINGS = ['SMTP_URL', 'WEBHOOK_URLS', 'DATABASE_URL'] as const;
const EVERY_MAIL = { GUIDE_EMAIL: 'link', NEW_LEAD_EMAIL: 'each', OPERATOR_EMAIL: 'you@example.com' };
/** After this time, the process is killed. Longer than it takes to finish open requests (dev-api.ts). */
const STOP_WITHIN_MS = 8_000;

export type Api = {
  readonly origin: string;
  readonly mailFolder: string;
  readonly unused: readonly string[];
  readonly ready: () => Promise<boolean>;
  readonly restart: () => void;
  readonly stop: () => Promise<void>;
};

export function startApi({ host, port, publicUrl }: { host: string; port: number; publicUrl: string }): Api {
  const instance = process.env['INSTANCE_FOLDER']?.trim()
    ? path.resolve(process.env['INSTANCE_FOLDER'])
    : PROJECT_FOLDER;
  const folder = path.join(instance, 'data', 'dev');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const devSettings = readSettings(path.join(folder, '.env'));
  const instanceSettings = { ...readSettings(path.join(instance, '.env')), ...process.env };
  const env = {
    ...process.env,
    ...Object.fromEntries(
      Object.entries(EVERY_MAIL).filter(
        ([name]) => devSettings[name] === undefined && process.env[name] === undefined,
      ),
    ),
    ...Object.fromEntries(EXTERNAL_SETTINGS.map((name) => [name, ''])),
    CAMPAIGN_FOLDER: readCampaignFolder(),
    INSTANCE_FOLDER: folder,
    HOST: host,
    PORT: String(port),
    PUBLIC_URL: publicUrl,
  };

  let child: ChildProcess | null = null;
  let ready: Promise<boolean> = Promise.resolve(false);
  const start = () => {
    const started = fork(path.join(import.meta.dirname, 'dev-api.ts'), { cwd: PROJECT_FOLDER, env });
    child = started;
    ready = Promise.race([
      once(started, 'message').then(() => true),
      once(started, 'exit').then(() => false),
    ]);
  };
  const endChild = async () => {
    const ending = child;
    if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return;
    const timer = setTimeout(() => ending.kill('SIGKILL'), STOP_WITHIN_MS);
    const ended = once(ending, 'exit');
    if (ending.connected) ending.disconnect();
    await ended;
    clearTimeout(timer);
  };
  start();
  let restarting: Promise<void> = Promise.resolve();
  let stopped = false;
  return {
    origin: `http://${host}:${port}`,
    mailFolder: path.join(folder, 'data', 'mail'),
    unused: EXTERNAL_SETTINGS.filter((name) => instanceSettings[name]?.trim()),
    ready: () => restarting.then(() => ready),
    restart: () => {
      restarting = (async (before) => {
        await before;
        await endChild();
        if (!stopped) start();
      })(restarting);
    },
    stop: async () => {
      stopped = true;
      await restarting;
      await endChild();
    },
  };
}

const readSettings = (file: string): Partial<Record<string, string>> =>
  existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
