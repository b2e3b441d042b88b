// A disk that can be filled to the last byte.
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';

import { inFolder } from '#testing/folder.ts';

/** Why a test is skipped that mounts one; false when it can. */
export const whyNoDisk = (): string | false =>
  process.platform === 'linux' && process.getuid?.() === 0
    ? false
    : 'a disk is mounted, which takes root on Linux';

/**
 * Mounts one, and takes it away again.
 * @param folder an empty one
 * @param options size: as mount reads it, such as 2m. uid and gid: whose it is
 */
export function mountSmallDisk(
  folder: string,
  { size, uid = 0, gid = 0 }: { readonly size: string; readonly uid?: number; readonly gid?: number },
): { readonly unmount: () => void } {
  const options = `size=${size},mode=700,uid=${uid},gid=${gid}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return { unmount: () => void execFileSync('umount', [folder]) };
}

/** A disk of 2 MB, for as long as it is needed. */
export const withSmallDisk = (
  owner: { readonly uid: number; readonly gid: number },
  act: (disk: string) => Promise<void>,
): Promise<void> =>
  inFolder(async (folder) => {
    // The owner has to come by.
    chmodSync(folder, 0o711);
    const disk = path.join(folder, 'disk');
    mkdirSync(disk);
    const { unmount } = mountSmallDisk(disk, { size: '2m', uid: owner.uid, gid: owner.gid });
    try {
      await act(disk);
    } finally {
      unmount();
    }
  });

/**
 * Leaves no byte of a disk free.
 * @returns the file to remove for having them free again
 */
export function fillDisk(disk: string): string {
  const filler = path.join(disk, 'filler');
  const file = openSync(filler, 'w');
  for (const size of [65_536, 4_096, 1])
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch {
      // Full, as far as pieces of this size go.
    }
  closeSync(file);
  return filler;
}
