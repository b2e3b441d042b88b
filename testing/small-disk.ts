// A disk with little room, for tests of what happens when it is full.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';

import { inFolder } from '#testing/folder.ts';

const mount = (folder: string, kib: number) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', folder]).status === 0;
const unmount = (folder: string) => execFileSync('umount', ['-l', folder]);

let found: string | false | undefined;

/** Why such a disk cannot be had here; false when it can. */
export async function unlessMountable(): Promise<string | false> {
  if (found === undefined)
    await inFolder((folder) => {
      found = mount(folder, 64) ? false : 'this user may mount no disk';
      if (found === false) unmount(folder);
    });
  return found ?? false;
}

/** Makes a disk of a size, and takes it away again. */
export const onSmallDisk = (kib: number, act: (folder: string) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    if (!mount(folder, kib)) throw new Error('No disk could be mounted.');
    try {
      await act(folder);
    } finally {
      unmount(folder);
    }
  });

/** More than any of these disks has: whatever holds it is another one, which must not be filled. */
const MOST_BYTES = 16 * 2 ** 20;

/** Takes all the room that is left on the small disk of a folder. */
export function fillDisk(folder: string): void {
  const filler = openSync(path.join(folder, 'filler'), 'a');
  let written = 0;
  try {
    for (const size of [65_536, 4096, 1]) {
      const chunk = Buffer.alloc(size);
      try {
        for (;;) {
          if (written > MOST_BYTES) throw new Error(`${folder} is on no small disk.`);
          written += writeSync(filler, chunk);
        }
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      }
    }
  } finally {
    closeSync(filler);
  }
}
