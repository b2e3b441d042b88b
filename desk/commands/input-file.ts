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
      throw new CommandFailure(`${file} cannot be read by this user. Give the user permission to read it.`);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
    throw new CommandFailure(`${file} does not exist. Name the CSV that the previous tool exported.`);
  }
  throw new CommandFailure(`${file} is not a file. Name one, not a pipe or folder.`);
}
