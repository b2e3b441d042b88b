import { spawn, spawnSync, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { distFolder, findRelease } from '#server/http/releases.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
/** Tests use the specification's words and pictures, so operators can edit campaign/ and still get a green run. */
export const TEST_CAMPAIGN = path.join(PROJECT_FOLDER, 'testing', 'campaign');
export const DEFAULT_CAMPAIGN = path.join(PROJECT_FOLDER, 'campaign');
export const GERMAN_CAMPAIGN = path.join(PROJECT_FOLDER, 'examples', 'german');
export const TEST_DIST = distFolder(PROJECT_FOLDER, TEST_CAMPAIGN);

export type SiteToBuild = {
  readonly campaign: string;
  readonly publicUrl?: string | undefined;
};

const BUILD = path.join(PROJECT_FOLDER, 'build', 'build.ts');

const buildOptions = ({ campaign, publicUrl = '' }: SiteToBuild) =>
  ({
    cwd: PROJECT_FOLDER,
    stdio: 'inherit',
    env: { ...process.env, CAMPAIGN_FOLDER: campaign, PUBLIC_URL: publicUrl },
  }) satisfies SpawnOptions;

function isBuilt({ campaign, publicUrl = '' }: SiteToBuild): boolean {
  const sitePath = (URL.parse(publicUrl)?.pathname ?? '').replace(/\/$/, '');
  return findRelease(PROJECT_FOLDER, campaign, sitePath).type === 'release';
}

function requireBuilt(exitCode: number | null): void {
  if (exitCode !== 0) throw new Error('The site could not be built.');
}

/** Builds a campaign's site, unless a current one exists. Throws if the build fails. */
export function ensureBuilt(campaign: string, publicUrl?: string): void {
  const site = { campaign, publicUrl };
  if (!isBuilt(site)) requireBuilt(spawnSync(process.execPath, [BUILD], buildOptions(site)).status);
}

export async function ensureAllBuilt(sites: readonly SiteToBuild[]): Promise<void> {
  const waiting = [...sites];
  const buildNext = async (): Promise<void> => {
    for (let site = waiting.shift(); site !== undefined; site = waiting.shift()) {
      if (isBuilt(site)) continue;
      const build = spawn(process.execPath, [BUILD], buildOptions(site));
      const [exitCode] = (await once(build, 'exit')) as [number | null];
      requireBuilt(exitCode);
    }
  };
  await Promise.all([buildNext(), buildNext()]);
}
