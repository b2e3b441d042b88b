// A folder that is there for as long as it is needed.
import { mkdtempDisposable, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Makes a folder for temporary files, and removes it with all that is in it. @returns the result of the act */
export async function inFolder<Result>(act: (folder: string) => Promise<Result> | Result): Promise<Result> {
  await using folder = await mkdtempDisposable(path.join(await realpath(os.tmpdir()), 'lead-page-'));
  return await act(folder.path);
}
