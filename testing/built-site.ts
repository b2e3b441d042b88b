// Tests that start the production command need a built site that fits the words and the code as they are now.
import { spawnSync } from 'node:child_process';
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

/**
 * Builds the site of a campaign, unless one that fits is there. Throws if it cannot be built.
 * @param publicUrl whose path it is built for; none: the root
 */
export function ensureBuilt(campaign: string, publicUrl = ''): void {
  const sitePath = (URL.parse(publicUrl)?.pathname ?? '').replace(/\/$/, '');
  if (findRelease(PROJECT_FOLDER, campaign, sitePath).type === 'release') return;
  const build = path.join(PROJECT_FOLDER, 'build', 'build.ts');
  const { status } = spawnSync(process.execPath, [build], {
    cwd: PROJECT_FOLDER,
    stdio: 'inherit',
    env: { ...process.env, CAMPAIGN_FOLDER: campaign, PUBLIC_URL: publicUrl },
  });
  if (status !== 0) throw new Error('The site could not be built.');
}
