// Checks free disk space: with a full disk, visitors are turned away.
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';

import { about, type Finding } from '#desk/doctor/finding.ts';

const { ok, warning, problem } = about('disk');

const MIB = 1024 ** 2;
const LOW_BYTES = 1024 * MIB;
const SCARCE_BYTES = 100 * MIB;

/** @param folder of the database; may be missing */
export async function examineDisk(folder: string): Promise<readonly Finding[]> {
  let place = folder;
  while (!existsSync(place) && path.dirname(place) !== place) place = path.dirname(place);
  const { bavail, bsize, files, ffree } = await statfs(place);
  return [judgeRoom(place, { freeBytes: bavail * bsize, filesLeft: files === 0 ? null : ffree })];
}

/** @param room filesLeft is null on a disk without a limit of files */
export function judgeRoom(
  folder: string,
  { freeBytes, filesLeft }: { freeBytes: number; filesLeft: number | null },
): Finding {
  const free =
    freeBytes >= LOW_BYTES
      ? `${(freeBytes / LOW_BYTES).toFixed(1)} GiB`
      : `${Math.floor(freeBytes / MIB)} MiB`;
  const sentence = `The disk of ${folder} has ${free} free.`;
  if (filesLeft !== null && filesLeft < 100)
    return problem(`The disk of ${folder} has no room for more files (${filesLeft} left). Delete some.`);
  if (freeBytes < SCARCE_BYTES) return problem(`${sentence} Make room before leads are turned away.`);
  return freeBytes < LOW_BYTES ? warning(`${sentence} Make some room.`) : ok(sentence);
}
