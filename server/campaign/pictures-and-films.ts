// The files of a campaign folder: their text, and whether a picture or a film is what its name says.
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import path from 'node:path';

import { errorCode } from '#server/platform/error-code.ts';
import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';

/** How the operator calls a file: from the project's folder, or in full when the campaign lies elsewhere. */
export function nameOf(folder: string, file: string): string {
  const fromProject = path.relative(PROJECT_FOLDER, folder);
  return path.join(fromProject.startsWith('..') ? folder : fromProject, file);
}

/**
 * Reads a text, whichever way its editor ends lines and begins a file.
 * @param folder the campaign folder
 * @param file its path within that folder
 * @returns it with lines that end with \n; null when it is not there; or what is wrong, as one sentence
 */
export function readText(
  folder: string,
  file: string,
): { type: 'text'; text: string } | { type: 'mistake'; mistake: string } | null {
  let content: Buffer;
  try {
    content = readFileSync(path.join(folder, file));
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    if (code === 'ENOENT') return null;
    return {
      type: 'mistake',
      mistake: `${nameOf(folder, file)}: cannot be read (${code}); it must be a file that this user may read.`,
    };
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return { type: 'text', text: text.replaceAll(/\r\n?/g, '\n') };
  } catch {
    const { line, character } = firstForeignCharacter(content);
    return {
      type: 'mistake',
      mistake: `${nameOf(folder, file)}:${line}: is not written in UTF-8${character}; save the file as UTF-8 in your editor.`,
    };
  }
}

/** Where a text stops being UTF-8, and what stood there if an editor of Windows wrote it. */
function firstForeignCharacter(content: Buffer): { line: number; character: string } {
  if (content[0] === 0xff || content[0] === 0xfe) return { line: 1, character: ' but in UTF-16' };
  const lines = content.toString('latin1').split('\n');
  const at = lines.findIndex((line) => Buffer.from(line, 'latin1').toString('utf8').includes('\uFFFD'));
  const bytes = Buffer.from(lines[at] ?? '', 'latin1');
  const kept = bytes.toString('utf8').split('\uFFFD', 1)[0] ?? '';
  const byte = bytes.subarray(Buffer.byteLength(kept), Buffer.byteLength(kept) + 1);
  return { line: at + 1, character: ` (at "${new TextDecoder('windows-1252').decode(byte)}")` };
}

/**
 * What to say of a file that has to be there and is not.
 * @returns one sentence, which names a file that is called nearly so
 */
export function missingMistake(folder: string, file: string): string {
  const near = nearlyCalled(folder, file);
  return `${nameOf(folder, file)}: is missing; ${
    near === null
      ? 'put it back, or take it from examples/ of the project'
      : `there is ${near}: give it this name, to the letter`
  }.`;
}

/** A file beside it whose name differs in capitals or in its ending alone. */
function nearlyCalled(folder: string, file: string): string | null {
  const plain = (name: string) => path.parse(name.toLowerCase()).name;
  const wanted = path.basename(file);
  const alike = namesIn(path.join(folder, path.dirname(file))).filter(
    (name) => plain(name) === plain(wanted),
  );
  return alike.find((name) => name.toLowerCase() === wanted.toLowerCase()) ?? alike[0] ?? null;
}

/** @returns none when there is no such folder */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/** As a file begins, by the kinds that the page and its makers know. */
const KINDS: readonly (readonly [name: string, begins: RegExp])[] = [
  ['AVIF', /^....ftyp(?:avif|avis|mif1)/s],
  ['HEIC', /^....ftyp(?:heic|heix|hevc)/s],
  ['MP4', /^....ftyp/s],
  ['WebP', /^RIFF....WEBP/s],
  ['PNG', /^\x89PNG/],
  ['JPEG', /^\xFF\xD8\xFF/],
  ['GIF', /^GIF8/],
  ['WebM', /^.E\xDF\xA3/s],
  ['PDF', /^%PDF/],
  ['WebVTT', /^(?:\xEF\xBB\xBF)?WEBVTT/],
  ['SVG', /^(?:\xEF\xBB\xBF)?\s*(?:<\?xml|<!--|<!DOCTYPE svg|<svg)/i],
  ['Git LFS (a note in its place: run "git lfs pull")', /^version https:\/\/git-lfs/],
];

const WANTED: Readonly<Record<string, string>> = {
  '.avif': 'AVIF',
  '.webp': 'WebP',
  '.png': 'PNG',
  '.svg': 'SVG',
  '.mp4': 'MP4',
  '.webm': 'WebM',
  '.vtt': 'WebVTT',
};

/**
 * What keeps a file of media/ from being shown.
 * @param folder the campaign folder
 * @param files their names in media/
 * @returns one phrase for each slip, to stand behind the name of the entry that speaks of them
 */
export function mediaMistakes(folder: string, files: readonly string[]): string[] {
  const names = namesIn(path.join(folder, 'media'));
  const absent = files.filter((file) => !names.includes(file));
  const alike = (file: string) => names.find((name) => name.toLowerCase() === file.toLowerCase());
  const missing = absent.filter((file) => alike(file) === undefined);
  return [
    ...(missing.length > 0
      ? [`needs ${missing.map((file) => `media/${file}`).join(', ')}; put it there, or take the entry out`]
      : []),
    ...absent.flatMap((file) => {
      const name = alike(file);
      return name === undefined
        ? []
        : [`needs media/${file}; there is ${name}: give it this name, to the letter`];
    }),
    ...files.filter((file) => names.includes(file)).flatMap((file) => kindMistake(folder, file)),
  ];
}

function kindMistake(folder: string, file: string): string[] {
  const wanted = WANTED[path.extname(file)];
  const begin = beginOf(path.join(folder, 'media', file));
  if (begin === '') return [`media/${file} is empty; put the file there again`];
  const found = KINDS.find(([, begins]) => begins.test(begin))?.[0];
  if (wanted === undefined || found === wanted) return [];
  return [
    `media/${file} is ${found === undefined ? 'something else than its name says' : found}; save it as ${wanted}`,
  ];
}

function beginOf(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const begin = Buffer.alloc(256);
    return begin.toString('latin1', 0, readSync(descriptor, begin));
  } catch {
    return '';
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes; what a visitor on a telephone waits for. */
const MOST_BYTES = { picture: 300_000, film: 15_000_000 };

/** @returns a phrase about a file that is heavier than it should be; null when it is not */
export function weightWarning(file: string): string | null {
  const size = statSync(file).size;
  const isFilm = /\.(?:mp4|webm)$/.test(file);
  const most = isFilm ? MOST_BYTES.film : MOST_BYTES.picture;
  if (size <= most) return null;
  const say = (bytes: number) =>
    bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return `has ${say(size)}; visitors wait for each of them, so save it with less than ${say(most)}`;
}
