// Makes files that other users of the machine may not read: the database, the mails, the secret.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { errorCode } from '#server/platform/error-code.ts';

const FOR_OTHERS = 0o077;

/** Makes a folder that only its owner can enter, with the folders above it. An existing one stays as it is. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/**
 * Removes the rights of other users to a file, or to a folder that is ours alone. A missing one, or one of another user, stays as it
 * is.
 */
export function makePrivate(name: string): void {
  const mode = modeOf(name);
  if (mode === null || (mode & FOR_OTHERS) === 0) return;
  try {
    chmodSync(name, mode & ~FOR_OTHERS);
  } catch (error) {
    if (!isPermission(error)) throw error;
  }
}

/** Makes a folder, all of whose files are ours, private with its files. */
export function makeWholeFolderPrivate(folder: string): void {
  makePrivateFolder(folder);
  makePrivate(folder);
  for (const name of readdirSync(folder)) makePrivate(path.join(folder, name));
}

/**
 * Makes an empty private file, whatever the umask is. An existing one is only made private.
 * @throws EISDIR for a folder, EFTYPE for a device, a pipe or a socket
 */
export function touchPrivateFile(file: string): void {
  // What is named by mistake, such as a folder or /dev/null, may be something that other users need.
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) {
    const code = stats.isDirectory() ? 'EISDIR' : 'EFTYPE';
    throw Object.assign(new Error(`${file} is no file.`), { code });
  }
  // An existing file is not opened: closing it would release the locks that this process holds on it (POSIX, close).
  if (stats === undefined) closeSync(openSync(file, 'a', 0o600));
  makePrivate(file);
}

/** Makes the names in a folder survive a power cut, as fsync does for a file's content. */
export function flushFolder(folder: string): void {
  // Windows has no such thing, and refuses.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/**
 * Finds those that other users of the machine can read or enter.
 * @param names files and folders; missing ones do not count
 */
export function openToOthers(names: readonly string[]): string[] {
  if (process.platform === 'win32') return [];
  return names.filter((name) => ((modeOf(name) ?? 0) & FOR_OTHERS) !== 0);
}

/** A sentence for the operator about a file or folder that {@link openToOthers} found. */
export const sayOpenToOthers = (name: string): string =>
  `Other users of this machine can look into ${name}. If nobody else needs to, take it away: chmod go= ${name}`;

const modeOf = (name: string): number | null => {
  const stats = statSync(name, { throwIfNoEntry: false });
  return stats ? stats.mode & 0o7777 : null;
};

const isPermission = (error: unknown): boolean =>
  ['EPERM', 'EACCES', 'EROFS'].includes(errorCode(error) ?? '');
