// A folder that is there for as long as it is needed.
import { mkdtempDisposable, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Makes a folder for temporary files, and removes it with all that is in it. */
export async function inFolder(act: (folder: string) => Promise<void> | void): Promise<void> {
  await using folder = await mkdtempDisposable(path.join(await realpath(os.tmpdir()), 'lead-page-'));
  await act(folder.path);
}
