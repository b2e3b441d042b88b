// Writes the files of commands. A file is there whole or not at all: it is written under another name in the same folder, then renamed.
// Terminals, pipes and devices such as /dev/null are never replaced; they take the text as it comes.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { errorCode } from '#server/platform/error-code.ts';
import { explainWriting } from '#server/platform/machine-failures.ts';

/** Characters gathered for one call of the file system. */
const WRITTEN_AT_ONCE = 60_000;

/**
 * Writes a file that only its owner can read. The previous file stays until the new one is whole. A link is followed, and stays.
 * @param write is given a function that appends
 * @throws {CommandFailure} when the file cannot be written
 */
export async function writeWhole(
  file: string,
  write: (append: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const place = await placeOf(file);
  if (place.type === 'stream') return writeStream(file, write);
  if (await isDatabase(place.path)) throw cannotWrite(file, 'it is a database. Name another file.');
  const beside = besideOf(place.path);
  try {
    {
      await using handle = await orSay(file, () => open(beside, 'wx', 0o600));
      await gather(write, (text) => orSay(file, () => handle.appendFile(text)));
      await orSay(file, () => handle.sync());
    }
    await orSay(file, () => rename(beside, place.path));
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/**
 * Writes <out>.json and <out>.html, whichever of the two endings was typed.
 * @param files onBegin: called before the first text is written, which stays when the second cannot be
 * @returns both names, to begin a sentence with
 */
export async function writeJsonAndPage(
  out: string,
  { document, page, onBegin }: { document: unknown; page: string; onBegin: () => Promise<void> },
): Promise<string> {
  const base = out.replace(/\.(json|html)$/, '');
  await writeWhole(`${base}.json`, async (append) => {
    await onBegin();
    await append(jsonText(document));
  });
  await writeWhole(`${base}.html`, (append) => append(page));
  return `${base}.json and ${base}.html`;
}

async function writeStream(file: string, write: Parameters<typeof writeWhole>[1]): Promise<void> {
  // Appends, because it can be a file after all: /dev/stdout behind ">>".
  await using handle = await orSay(file, () => open(file, constants.O_WRONLY | constants.O_APPEND));
  await gather(write, (text) => orSay(file, () => handle.appendFile(text)));
}

async function gather(
  write: Parameters<typeof writeWhole>[1],
  flush: (text: string) => Promise<void>,
): Promise<void> {
  let pending = '';
  await write(async (text) => {
    pending += text;
    if (pending.length < WRITTEN_AT_ONCE) return;
    await flush(pending);
    pending = '';
  });
  await flush(pending);
}

type Target =
  /** A file, which need not exist yet. The path has all links resolved. */
  { readonly type: 'file'; readonly path: string } | { readonly type: 'stream' };

/** Names of files that this process has open already. */
const OPEN_FILE = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/;

/**
 * Finds out what a typed name stands for.
 * @throws {CommandFailure} when nothing can be written there
 */
async function placeOf(file: string): Promise<Target> {
  const found = await orSay(file, () =>
    stat(file).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    }),
  );
  if (found === null || (found.isFile() && !OPEN_FILE.test(path.resolve(file))))
    return { type: 'file', path: await orSay(file, () => withoutLinks(file)) };
  if (found.isDirectory()) throw cannotWrite(file, 'it is a folder. Name a file in it.');
  if (found.isBlockDevice()) throw cannotWrite(file, 'it is a disk. Name a file.');
  if (found.isSocket()) throw cannotWrite(file, 'it is a socket. Name a file.');
  return { type: 'stream' };
}

/**
 * The path of an output that has to be a file.
 * @param what the output is called in the failure: "a backup"
 * @returns the path with all links resolved
 * @throws {CommandFailure} when something else is there
 */
export async function filePlace(file: string, what: string): Promise<string> {
  const place = await placeOf(file);
  if (place.type === 'file') return place.path;
  throw cannotWrite(file, `it is not a file, and ${what} has to be one. Name a file.`);
}

/** Resolves all links of a file that need not exist yet. */
async function withoutLinks(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const folder = await realpath(path.dirname(file));
    const target = await readlink(file).catch(() => null);
    return target === null
      ? path.join(folder, path.basename(file))
      : withoutLinks(path.resolve(folder, target));
  }
}

const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT';

/** The first bytes of an SQLite file. Replacing one by mistake would lose all leads. */
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

/** A random name in the same folder, and so on the same disk. */
export const besideOf = (file: string): string =>
  path.join(path.dirname(file), `desk-${randomBytes(4).toString('hex')}.part`);

export const cannotWrite = (file: string, why: string): CommandFailure =>
  new CommandFailure(`${file} cannot be written: ${why}`);

/** Runs an action on a file. @throws {CommandFailure} with a sentence when the file system refuses it */
export async function orSay<Result>(file: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const sentence = explainWriting(error, file);
    throw sentence === null ? error : new CommandFailure(sentence);
  }
}
