// Writes files under another name, then renames them, so they are complete or absent. Devices and pipes are written
// directly.
import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, readlink, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { errorCode, explainWriting } from '#server/platform/system-errors.ts';

const WRITTEN_AT_ONCE = 60_000;

/**
 * Writes a file readable only by its owner; follows the caller's own links.
 * @param write receives a function that appends text
 * @param mayReplace called at the end with the path; false keeps the previous file
 * @throws {CommandFailure} if the file cannot be written
 */
export async function writeWhole(
  file: string,
  write: (append: (text: string) => Promise<void>) => Promise<void>,
  mayReplace: (file: string) => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  const place = await placeOf(file);
  if (place.type === 'stream') return writeStream(file, place.path, write);
  if (await isDatabase(place.path)) throw cannotWrite(file, 'it is a database. Name another file.');
  const temporary = temporaryNameFor(place.path);
  try {
    {
      await using handle = await orExplain(file, () => open(temporary, 'wx', 0o600));
      await gather(write, (text) => orExplain(file, () => handle.appendFile(text)));
      await orExplain(file, () => handle.sync());
    }
    if (await mayReplace(place.path)) await orExplain(file, () => rename(temporary, place.path));
    else await rm(temporary);
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
  await writeWhole(`${base}.json`, async (append) => {
    await onBegin();
    await append(jsonText(document));
  });
  await writeWhole(`${base}.html`, (append) => append(page));
  return `${base}.json and ${base}.html`;
}

async function writeStream(
  file: string,
  place: string,
  write: Parameters<typeof writeWhole>[1],
): Promise<void> {
  // Appends, because /dev/stdout may be redirected to a file with ">>".
  const flags = constants.O_WRONLY | constants.O_APPEND | (isOpenFile(place) ? 0 : constants.O_NOFOLLOW);
  await using handle = await orExplain(file, () => open(place, flags));
  refuseForeignPipe(file, place, await orExplain(file, () => handle.stat()));
  await gather(write, (text) => orExplain(file, () => handle.appendFile(text)));
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

type Target = { readonly type: 'file' | 'stream'; readonly path: string };

const isOpenFile = (file: string): boolean =>
  /^\/dev\/(?:stdout|stderr|fd\/\d+)$/.test(file) ||
  [`/proc/self/fd/`, `/proc/${process.pid}/fd/`].some((folder) => file.startsWith(folder));

async function placeOf(file: string): Promise<Target> {
  const place = await orExplain(file, () => withoutLinks(file));
  const found = await orExplain(file, () =>
    (isOpenFile(place) ? stat(place) : lstat(place)).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    }),
  );
  if (found === null || (found.isFile() && !isOpenFile(place))) return { type: 'file', path: place };
  if (found.isDirectory()) throw cannotWrite(file, 'it is a folder. Name a file in it.');
  if (found.isBlockDevice()) throw cannotWrite(file, 'it is a disk. Name a file.');
  if (found.isSocket()) throw cannotWrite(file, 'it is a socket. Name a file.');
  refuseForeignPipe(file, place, found);
  return { type: 'stream', path: place };
}

function refuseForeignPipe(file: string, place: string, found: Stats): void {
  if (found.isFIFO() && !isOpenFile(place) && found.uid !== process.getuid?.())
    throw cannotWrite(file, 'it is another user’s pipe. Name a file or your own pipe.');
}

/** @returns the path with all links resolved */
export async function filePlace(file: string, what: string): Promise<string> {
  const place = await placeOf(file);
  if (place.type === 'file') return place.path;
  throw cannotWrite(file, `it is not a file, but ${what} must be one. Name a file.`);
}

const MOST_LINKS = 40;

async function withoutLinks(file: string): Promise<string> {
  const remaining = namesIn(path.isAbsolute(file) ? file : `${process.cwd()}/${file}`);
  let place = '/';
  for (let links = 0; remaining.length > 0;) {
    const name = remaining.shift()!;
    const next = path.join(place, name);
    if (remaining.length === 0 && isOpenFile(next)) return next;
    const found = await lstat(next).catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    });
    if (found === null) return path.join(next, ...remaining);
    if (!found.isSymbolicLink()) {
      place = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw cannotWrite(file, 'its symbolic links form a loop. Name another file.');
    await refuseForeignLink(file, next, found);
    const target = await readlink(next);
    remaining.unshift(...namesIn(target));
    if (path.isAbsolute(target)) place = '/';
  }
  return place;
}

const namesIn = (file: string): string[] => file.split('/').filter((name) => name !== '' && name !== '.');

const WRITABLE_BY_OTHERS = constants.S_IWGRP | constants.S_IWOTH;

/** Refuses links that another user may have created in a shared folder. */
async function refuseForeignLink(file: string, link: string, { uid }: Stats): Promise<void> {
  if (uid === 0 || uid === process.getuid?.()) return;
  const folder = await stat(path.dirname(link));
  if ((folder.mode & WRITABLE_BY_OTHERS) !== 0)
    throw cannotWrite(file, `${link} is a link that another user created. Name a file in your own folder.`);
}

const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT';

/** Overwriting a SQLite database by mistake would lose all leads. */
const DATABASE_HEADER = 'SQLite format 3\0';

async function isDatabase(file: string): Promise<boolean> {
  try {
    // Non-blocking, because a pipe may have replaced the file since the check.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
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

export async function orExplain<Result>(file: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const sentence = explainWriting(error, file);
    throw sentence === null ? error : new CommandFailure(sentence);
  }
}
