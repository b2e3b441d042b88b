import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { errorCode } from '#server/platform/system-errors.ts';
import { shellWord } from '#server/platform/text.ts';

export const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..', '..');

const PERMISSIONS_OF_OTHERS = 0o077;

export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Removes other users' permissions. Ignores missing files, and files that belong to another user. */
export function makePrivate(name: string): void {
  const mode = modeOf(name);
  if (mode === null || (mode & PERMISSIONS_OF_OTHERS) === 0) return;
  try {
    chmodSync(name, mode & ~PERMISSIONS_OF_OTHERS);
  } catch (error) {
    if (!['EPERM', 'EACCES', 'EROFS'].includes(errorCode(error) ?? '')) throw error;
  }
}

export function makeWholeFolderPrivate(folder: string): void {
  makePrivateFolder(folder);
  makePrivate(folder);
  for (const name of readdirSync(folder)) makePrivate(path.join(folder, name));
}

/**
 * Creates an empty file whatever the umask; an existing one is only made private.
 * @throws EISDIR for a folder, EFTYPE for a device, a pipe or a socket
 */
export function touchPrivateFile(file: string): void {
  // A path given by mistake, such as a folder or /dev/null, may be used by other programs.
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) {
    const code = stats.isDirectory() ? 'EISDIR' : 'EFTYPE';
    throw Object.assign(new Error(`${file} is not a file.`), { code });
  }
  // Closing an existing file would release this process's locks on it (POSIX, close).
  if (stats === undefined) closeSync(openSync(file, 'a', 0o600));
  makePrivate(file);
}

export function flushToDisk(fileOrFolder: string): void {
  // Windows doesn't support fsync on folders.
  if (process.platform === 'win32') return;
  const descriptor = openSync(fileOrFolder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

export function readableByOthers(names: readonly string[]): string[] {
  if (process.platform === 'win32') return [];
  return names.filter((name) => ((modeOf(name) ?? 0) & PERMISSIONS_OF_OTHERS) !== 0);
}

export const isFolder = (name: string): boolean =>
  statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;

export const describeReadableByOthers = (name: string): string =>
  `Other users of this machine can read ${name}. Unless they need access, remove it: chmod go= ${shellWord(name)}`;

const modeOf = (name: string): number | null => {
  const stats = statSync(name, { throwIfNoEntry: false });
  return stats ? stats.mode & 0o7777 : null;
};
