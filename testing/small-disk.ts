import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempDisposableSync, openSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { errorCode } from '#server/platform/system-errors.ts';
import { inFolder } from '#testing/folder.ts';

type DiskOptions = {
  readonly size: string;
  readonly uid?: number;
  readonly gid?: number;
};

export function whyNoDisk(): string | false {
  using folder = mkdtempDisposableSync(path.join(os.tmpdir(), 'lead-page-disk-'));
  try {
    mountSmallDisk(folder.path, { size: '64k' }).unmount();
    return false;
  } catch {
    return 'this user cannot mount a disk';
  }
}

/** The caller must unmount it. */
function mountSmallDisk(folder: string, { size, uid = 0, gid = 0 }: DiskOptions) {
  const options = `size=${size},mode=700,uid=${uid},gid=${gid}`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return { unmount: () => void execFileSync('umount', ['-l', folder]) };
}

export const withSmallDisk = (options: DiskOptions, act: (disk: string) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    chmodSync(folder, 0o711);
    const disk = path.join(folder, 'disk');
    mkdirSync(disk);
    const { unmount } = mountSmallDisk(disk, options);
    try {
      await act(disk);
    } finally {
      unmount();
    }
  });

/** A folder with more space is on another disk, which must not be filled. */
const MAX_BYTES = 256 * 2 ** 20;

/** @returns the file that fills the disk, to be removed afterwards */
export function fillDisk(disk: string): string {
  const filler = path.join(disk, 'filler');
  const file = openSync(filler, 'w');
  let written = 0;
  try {
    for (const size of [65_536, 4_096, 1]) {
      const chunk = Buffer.alloc(size);
      try {
        for (;;) {
          if (written > MAX_BYTES) throw new Error(`${disk} is not on a small disk.`);
          written += writeSync(file, chunk);
        }
      } catch (error) {
        if (errorCode(error) !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(file);
  }
  return filler;
}
