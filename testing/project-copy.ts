import { cpSync, mkdtempDisposableSync, symlinkSync, type DisposableTempDir } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const NEEDED = [
  'campaign',
  'server',
  'desk',
  'shared',
  'build',
  'web',
  'package.json',
  'package-lock.json',
  'tsconfig.base.json',
];

/**
 * The copy has no dist/, and its node_modules/ is a link.
 * @param names files and folders
 */
export function copyProject(names: readonly string[] = NEEDED): DisposableTempDir {
  const copy = mkdtempDisposableSync(path.join(os.tmpdir(), 'lead-page-project-'));
  for (const name of names)
    cpSync(path.join(PROJECT_FOLDER, name), path.join(copy.path, name), { recursive: true });
  symlinkSync(path.join(PROJECT_FOLDER, 'node_modules'), path.join(copy.path, 'node_modules'));
  return copy;
}
