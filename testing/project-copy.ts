import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
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

export type ProjectCopy = { readonly folder: string; readonly remove: () => void };

/**
 * The copy has no dist/, and its node_modules/ is a link.
 * @param names files and folders
 */
export function copyProject(names: readonly string[] = NEEDED): ProjectCopy {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lead-page-project-'));
  for (const name of names)
    cpSync(path.join(PROJECT_FOLDER, name), path.join(folder, name), { recursive: true });
  symlinkSync(path.join(PROJECT_FOLDER, 'node_modules'), path.join(folder, 'node_modules'));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
