import { mkdtempDisposable, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

export async function inFolder<Result>(act: (folder: string) => Promise<Result> | Result): Promise<Result> {
  await using folder = await mkdtempDisposable(path.join(await realpath(os.tmpdir()), 'lead-page-'));
  return await act(folder.path);
}
