// Tests that start the production command need a built site that fits the words and the code as they are now.
import { spawn, spawnSync, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { distFolder, findRelease } from '#server/http/releases.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
/**
 * The words and pictures that tests go by. They are the specification's and are not edited: an operator who writes other words
 * into campaign/ keeps a green test run.
 */
export const TEST_CAMPAIGN = path.join(PROJECT_FOLDER, 'testing', 'campaign');
/** The campaign that the project comes with, until an operator writes their own. */
export const DEFAULT_CAMPAIGN = path.join(PROJECT_FOLDER, 'campaign');
export const GERMAN_CAMPAIGN = path.join(PROJECT_FOLDER, 'examples', 'german');
/** Where the built site of the tests' campaign is. */
export const TEST_DIST = distFolder(PROJECT_FOLDER, TEST_CAMPAIGN);

export type SiteToBuild = {
  readonly campaign: string;
  /** Whose path it is built for; none: the root. */
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

/** Builds the site of a campaign, unless one that fits is there. Throws if it cannot be built. */
export function ensureBuilt(campaign: string, publicUrl?: string): void {
  const site = { campaign, publicUrl };
  if (!isBuilt(site)) requireBuilt(spawnSync(process.execPath, [BUILD], buildOptions(site)).status);
}

/** The same for several, two at a time. */
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
