// Where a command writes. A file is there whole or not at all: written beside its place, then put into it. What is no file (a
// terminal, a pipe, /dev/null) is never replaced: it takes what is written as it comes.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure } from '#desk/commands/command.ts';
import { errorCode } from '#server/platform/error-code.ts';
import { explainWriting } from '#server/platform/machine-failures.ts';

/** Letters that are gathered for one call of the file system. */
const WRITTEN_AT_ONCE = 60_000;

/**
 * Writes a file that only its owner can read; what was there before stays until the new one is whole. Behind a link, the file that it
 * leads to is meant.
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
 * @returns both names, to begin a sentence with
 */
export async function writeJsonAndPage(out: string, document: unknown, page: string): Promise<string> {
  const base = out.replace(/\.(json|html)$/, '');
  await writeWhole(`${base}.json`, (append) => append(jsonText(document)));
  await writeWhole(`${base}.html`, (append) => append(page));
  return `${base}.json and ${base}.html`;
}

async function writeStream(file: string, write: Parameters<typeof writeWhole>[1]): Promise<void> {
  // At the end, should it be a file after all: /dev/stdout behind ">>".
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

type Place =
  /** A file, or none yet. The path leads over no link at its end. */
  { readonly type: 'file'; readonly path: string } | { readonly type: 'stream' };

/** Names of what this process has open already. */
const OPEN_FILE = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/;

/**
 * Looks what is at a place that is to be written to.
 * @throws {CommandFailure} when nothing can be written there
 */
async function placeOf(file: string): Promise<Place> {
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
 * Where something is put that has to be a file.
 * @param what it is, at the beginning of a sentence's second half
 * @returns its path, which leads over no link at its end
 * @throws {CommandFailure} when something else is there
 */
export async function filePlace(file: string, what: string): Promise<string> {
  const place = await placeOf(file);
  if (place.type === 'file') return place.path;
  throw cannotWrite(file, `it is not a file, and ${what} has to be one. Name a file.`);
}

/** The path behind all links, of a file that may not be there yet. */
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

/** How SQLite's files begin. Replacing one by mistake would lose all leads. */
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

/** A new name in the same folder, and so on the same disk, which no command takes twice. */
export const besideOf = (file: string): string =>
  path.join(path.dirname(file), `desk-${randomBytes(4).toString('hex')}.part`);

export const cannotWrite = (file: string, why: string): CommandFailure =>
  new CommandFailure(`${file} cannot be written: ${why}`);

/** Does what files can refuse. */
export async function orSay<Result>(file: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const sentence = explainWriting(error, file);
    throw sentence === null ? error : new CommandFailure(sentence);
  }
}
