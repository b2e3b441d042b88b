import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { ensureBuilt, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { createPostgresDatabase, type Engine } from '#testing/databases.ts';
import { KEPT_COMPILED, keptCompiledIn } from '#testing/environment.ts';
import { startInbox, type Inbox, type InboxBehaviour } from '#testing/inbox.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';
import { ownEnvironment, startProgram, type Program } from '#testing/start-program.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8')) as {
  readonly scripts: { readonly start: string };
};
/** Memory flags of `npm start` (decision 0019). */
export const SERVING_FLAGS = scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** The log's line with the server's URL. */
export const READY = /"msg":"Ready on ([^"]+)"/;

export type SiteProcess = Program & { readonly url: string; readonly port: number };

/**
 * @param env settings; of this machine's environment, only PATH and HOME are passed on. PORT undefined: use .env
 * @param folder working folder, with data/
 * @param project another copy of the project (project-copy.ts)
 */
export async function startSiteProcess(
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
  project?: string,
): Promise<SiteProcess> {
  const { args, ...options } = siteProgram(env, folder, project);
  const { found, ...program } = await startProgram(args, READY, options);
  const [, url = ''] = found;
  return { ...program, url, port: Number(new URL(url).port) };
}

/** Starts a site like {@link startSiteProcess}, but does not wait until it is ready. */
export function spawnSite(
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
  stdio: StdioOptions,
): ChildProcess {
  const { args, ...options } = siteProgram(env, folder);
  return spawn(process.execPath, args, { ...options, env: { ...ownEnvironment(), ...options.env }, stdio });
}

export function siteProgram(
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
  project = PROJECT_FOLDER,
) {
  const campaign =
    project === PROJECT_FOLDER ? { CAMPAIGN_FOLDER: env['CAMPAIGN_FOLDER'] ?? TEST_CAMPAIGN } : {};
  if (campaign.CAMPAIGN_FOLDER) ensureBuilt(campaign.CAMPAIGN_FOLDER, env['PUBLIC_URL']);
  return {
    args: [...SERVING_FLAGS, path.join(project, 'server', 'start.js')],
    cwd: folder,
    env: {
      PORT: '0',
      INSTANCE_FOLDER: folder,
      ...KEPT_COMPILED,
      ...(project !== PROJECT_FOLDER && keptCompiledIn(project)),
      ...campaign,
      ...env,
    },
  };
}

export const siteDatabaseUrl = async (engine: Engine, server?: string): Promise<string> =>
  engine === 'sqlite' ? 'file:./data/leads.db' : createPostgresDatabase(server);

export const siteSettings = (databaseUrl: string, inbox: Pick<Inbox, 'url'>) => ({
  DATABASE_URL: databaseUrl,
  SMTP_URL: inbox.url,
  MAIL_FROM: 'Guide <guide@example.com>',
  APP_SECRET: TEST_SECRET,
});

export type PreparedSite = {
  readonly inbox: Inbox;
  readonly folder: string;
  readonly databaseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** @param changes settings for this process, such as another process's PORT */
  readonly start: (changes?: Readonly<Record<string, string>>) => Promise<SiteProcess>;
  readonly close: () => Promise<void>;
} & AsyncDisposable;

export type SiteOptions = {
  readonly engine?: Engine;
  readonly server?: string | undefined;
  readonly databaseUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly inbox?: InboxBehaviour | undefined;
  readonly campaign?: string;
  readonly folder?: string;
};

export async function prepareSite({
  engine = 'sqlite',
  server,
  databaseUrl: givenUrl,
  env: settings = {},
  inbox: behaviour,
  campaign = TEST_CAMPAIGN,
  folder: givenFolder,
}: SiteOptions = {}): Promise<PreparedSite> {
  const folder = givenFolder ?? mkdtempSync(path.join(os.tmpdir(), 'lead-page-site-'));
  const inbox = await startInbox(behaviour);
  const databaseUrl = givenUrl ?? (await siteDatabaseUrl(engine, server));
  const env = { ...siteSettings(databaseUrl, inbox), CAMPAIGN_FOLDER: campaign, ...settings };
  const processes: SiteProcess[] = [];
  const close = async () => {
    await Promise.all(processes.map((one) => one.stop('SIGINT')));
    await inbox.close();
    if (givenFolder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  return {
    inbox,
    folder,
    databaseUrl,
    env,
    start: async (changes = {}) => {
      const started = await startSiteProcess({ ...env, ...changes }, folder);
      processes.push(started);
      return started;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export type Site = SiteProcess & Omit<PreparedSite, 'start'>;

export async function startSite(options?: SiteOptions): Promise<Site> {
  const { start, ...prepared } = await prepareSite(options);
  return { ...(await start()), ...prepared };
}
