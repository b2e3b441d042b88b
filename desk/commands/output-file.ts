// Writes files under another name, then renames them, so they are complete or absent. Devices and pipes are written
// directly.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { jsonText } from '#desk/commands/print.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { errorCode, explainWriteFailure } from '#server/platform/system-errors.ts';

type Write = (append: (text: string) => Promise<void>) => Promise<void>;

/** In characters. */
const BUFFER_LENGTH = 60_000;

/**
 * Writes a file readable only by its owner; follows a symbolic link to an existing file.
 * @param write receives a function that appends text
 * @throws {CommandFailure} if the file cannot be written
 */
export async function writeFileAtomically(file: string, write: Write): Promise<void> {
  const target = await resolveFile(file);
  if (target === null) return writeStream(file, write);
  if (await isDatabase(target)) throw cannotWrite(file, 'it is a database. Name another file.');
  const temporary = temporaryNameFor(target);
  try {
    {
      await using handle = await explainWriteErrors(file, () => open(temporary, 'wx', 0o600));
      await writeBuffered(write, (text) => explainWriteErrors(file, () => handle.appendFile(text)));
      await explainWriteErrors(file, () => handle.sync());
    }
    await explainWriteErrors(file, () => rename(temporary, target));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** @param files onBegin runs before the first write; the first file stays if the second fails */
export async function writeJsonAndPage(
  out: string,
  { document, page, onBegin }: { document: unknown; page: string; onBegin: () => Promise<void> },
): Promise<string> {
  const base = out.replace(/\.(json|html)$/, '');
  await writeFileAtomically(`${base}.json`, async (append) => {
    await onBegin();
    await append(jsonText(document));
  });
  await writeFileAtomically(`${base}.html`, (append) => append(page));
  return `${base}.json and ${base}.html`;
}

async function writeStream(file: string, write: Write): Promise<void> {
  // Appends, because /dev/stdout may be redirected to a file with ">>".
  await using handle = await explainWriteErrors(file, () =>
    open(file, constants.O_WRONLY | constants.O_APPEND),
  );
  await writeBuffered(write, (text) => explainWriteErrors(file, () => handle.appendFile(text)));
}

async function writeBuffered(write: Write, flush: (text: string) => Promise<void>): Promise<void> {
  let pending = '';
  await write(async (text) => {
    pending += text;
    if (pending.length < BUFFER_LENGTH) return;
    await flush(pending);
    pending = '';
  });
  await flush(pending);
}

/** Such as /dev/stdout, which may be redirected to a regular file. */
const isOpenFile = (file: string): boolean => /^\/(?:dev|proc)\/.*(?:stdout|stderr|fd\/\d+)$/.test(file);

/** @returns the path with all links resolved; null for a device or pipe */
async function resolveFile(file: string): Promise<string | null> {
  const found = await explainWriteErrors(file, () =>
    stat(file).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return null;
      throw error;
    }),
  );
  if (found?.isDirectory() ?? file.endsWith('/'))
    throw cannotWrite(file, 'it is a folder. Name a file in it.');
  if (found === null) return path.resolve(file);
  if (found.isBlockDevice() || found.isSocket())
    throw cannotWrite(file, 'it is a disk or a socket. Name a file.');
  return found.isFile() && !isOpenFile(file) ? realpath(file) : null;
}

/** Resolves the links of a file that may not exist yet. @param what such as "a backup" */
export async function resolveOutputFile(file: string, what: string): Promise<string> {
  const target = await resolveFile(file);
  if (target !== null) return target;
  throw cannotWrite(file, `it is not a file, but ${what} must be one. Name a file.`);
}

/** Overwriting a SQLite database by mistake would lose all leads. */
const DATABASE_HEADER = 'SQLite format 3\0';

async function isDatabase(file: string): Promise<boolean> {
  try {
    await using handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(DATABASE_HEADER.length));
    return buffer.toString('latin1', 0, bytesRead) === DATABASE_HEADER;
  } catch {
    return false;
  }
}

/** Returns a random name in the same folder, and therefore on the same disk. */
export const temporaryNameFor = (file: string): string =>
  path.join(path.dirname(file), `desk-${randomBytes(4).toString('hex')}.part`);

export const cannotWrite = (file: string, why: string): CommandFailure =>
  new CommandFailure(`${file} cannot be written: ${why}`);

/** Turns a failure to write `file` into a {@link CommandFailure}. */
export async function explainWriteErrors<Result>(
  file: string,
  action: () => Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    const sentence = explainWriteFailure(error, file);
    throw sentence === null ? error : new CommandFailure(sentence);
  }
}
