import { open, type FileHandle } from 'node:fs/promises';

import { CommandFailure } from '#desk/command-failure.ts';
import { errorCode } from '#server/platform/system-errors.ts';

export async function openInput(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EACCES' || code === 'EPERM')
      throw new CommandFailure(`This user may not read ${file}. Grant the user read permission.`);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new CommandFailure(`${file} does not exist. Name the CSV file that your previous tool exported.`);
  }
  throw new CommandFailure(`${file} is not a regular file. Name a file instead of a pipe or folder.`);
}

/** Returns milliseconds since 1970. */
export const savedAt = async (handle: FileHandle): Promise<number> =>
  Math.trunc((await handle.stat()).mtimeMs);
