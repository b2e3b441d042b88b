// A file that is there whole or not at all: written beside its place, then put into it.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

import { CommandFailure } from '#server/commands/desk.ts';

/** Letters that are gathered for one call of the file system. */
const WRITTEN_AT_ONCE = 60_000;

/**
 * Writes a file that only its owner can read. What was there before stays until the new one is whole.
 * @param write is given a function that appends
 * @throws {CommandFailure} when the file cannot be written
 */
export async function writeWhole(
  file: string,
  write: (append: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const beside = `${file}.${randomBytes(4).toString('hex')}.part`;
  const handle = await orSay(file, () => open(beside, 'wx', 0o600));
  try {
    let pending = '';
    const flush = async () => {
      await orSay(file, () => handle.appendFile(pending));
      pending = '';
    };
    await write(async (text) => {
      pending += text;
      if (pending.length >= WRITTEN_AT_ONCE) await flush();
    });
    await flush();
    await orSay(file, () => handle.sync());
    await handle.close();
    await orSay(file, () => rename(beside, file));
  } catch (error) {
    await handle.close();
    await rm(beside, { force: true });
    throw error;
  }
}

/** Does what files can refuse. */
export async function orSay<Result>(file: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = WHY[code];
    if (why === undefined) throw error;
    throw new CommandFailure(`${file} cannot be written: ${why}`);
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist. Make it first, or name another.',
  ENOTDIR: 'what should be its folder is a file. Name another.',
  EISDIR: 'it is a folder. Name a file in it.',
  EACCES: 'this user may not write there. Name another place.',
  EPERM: 'this user may not write there. Name another place.',
  EROFS: 'the disk is read-only. Name another place.',
  ENOSPC: 'the disk is full. Make room, or name another place.',
};
