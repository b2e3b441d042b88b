// Tests that start the production command need a built site that fits the words and the code as they are now.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { findRelease } from '#server/http/releases.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');

/** Builds the site, unless the one in dist/ fits. Throws if it cannot be built. */
export function ensureBuilt(): void {
  if (findRelease(PROJECT_FOLDER).type === 'release') return;
  const build = path.join(PROJECT_FOLDER, 'build', 'build.ts');
  const { status } = spawnSync(process.execPath, [build], { cwd: PROJECT_FOLDER, stdio: 'inherit' });
  if (status !== 0) throw new Error('The site could not be built.');
}
