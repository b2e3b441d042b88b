// Finds the pictures and videos that landing.yaml needs and their sizes, and checks that their content matches their
// extension. Also provides the Tabler icons that a campaign may name (decision 0032). Only the build needs the icon package.
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { namesIn } from '#server/campaign/campaign-folder.ts';
import { byNearness, nearestName } from '#server/platform/mistakes.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { DRAWN_ICONS } from '#shared/campaign-schema.ts';

export const both = (names: readonly string[]): string[] =>
  names.flatMap((name) => [`${name}.avif`, `${name}.webp`]);

export const MEDIA = {
  hero: both(['hero-640', 'hero-960', 'hero-1280']),
  video: ['film.mp4', 'film.webm', 'film.vtt', ...both(['poster-640', 'poster-960'])],
  promise: both(['guide-400', 'guide-800']),
} as const;

/** @param index of the page in the list, from 0 */
export const mediaOfPages = (index: number): string[] =>
  both([480, 960].map((width) => `inside-${index + 1}-${width}`));

type Size = { readonly width: number; readonly height: number };

/** Reads the size in CSS pixels from a name such as acme-320x80.webp. */
export function sizeInName(file: string): Size | null {
  const [, width, height] = /-(\d+)x(\d+)\.\w+$/.exec(file) ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}

export function svgSize(file: string): Size | null {
  const [, width, height] =
    /<svg[^>]*\sviewBox=["'][-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)["']/.exec(
      readFileSync(file, 'utf8'),
    ) ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}

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
  ['a Git LFS pointer (run "git lfs pull")', /^version https:\/\/git-lfs/],
];

const WANTED: Readonly<Record<string, string>> = {
  '.avif': 'AVIF',
  '.webp': 'WebP',
  '.png': 'PNG',
  '.jpg': 'JPEG',
  '.jpeg': 'JPEG',
  '.svg': 'SVG',
  '.mp4': 'MP4',
  '.webm': 'WebM',
  '.vtt': 'WebVTT',
};

/** @returns phrases that follow the name of the entry that needs the files */
export function mediaMistakes(folder: string, files: readonly string[]): string[] {
  const names = namesIn(path.join(folder, 'media'));
  const absent = files.filter((file) => !names.includes(file));
  const alike = (file: string) => names.find((name) => name.toLowerCase() === file.toLowerCase());
  const missing = absent.filter((file) => alike(file) === undefined);
  return [
    ...(missing.length > 0
      ? [
          `needs ${missing.map((file) => `media/${file}`).join(', ')}. Add the missing ${missing.length === 1 ? 'file' : 'files'}, or remove the entry`,
        ]
      : []),
    ...absent.flatMap((file) => {
      const name = alike(file);
      return name === undefined ? [] : [`needs media/${file}. Rename ${name} to exactly this name`];
    }),
    ...files.filter((file) => names.includes(file)).flatMap((file) => mistakesInFile(folder, file)),
  ];
}

/** @returns phrases with the name of the file */
export function mistakesInFile(folder: string, file: string): string[] {
  const wanted = WANTED[path.extname(file)];
  const place = path.join(folder, 'media', file);
  const begin = beginOf(place);
  if (begin === '') return [`media/${file} is empty. Copy the file there again`];
  const found = KINDS.find(([, begins]) => begins.test(begin))?.[0];
  if (wanted !== undefined && found !== wanted)
    return [`media/${file} contains ${found ?? 'another format'}. Save the file as ${wanted}`];
  return wanted === 'SVG' && svgSize(place) === null
    ? [`media/${file} has no viewBox. Export the SVG with a viewBox`]
    : [];
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

const MOST_BYTES = { picture: 300_000, film: 15_000_000 };

export function weightWarning(file: string): string | null {
  const size = statSync(file).size;
  const isFilm = /\.(?:mp4|webm)$/.test(file);
  const most = isFilm ? MOST_BYTES.film : MOST_BYTES.picture;
  if (size <= most) return null;
  const say = (bytes: number) =>
    bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return `has a size of ${say(size)}, which visitors have to wait for. Save the file with less than ${say(most)}`;
}

/** Of the pictures with their width in their name. */
const RATIOS: Readonly<Record<string, number>> = {
  hero: 5 / 4,
  poster: 16 / 9,
  guide: 4 / 3,
  inside: 16 / 11,
};

/** @returns a phrase if the picture is smaller than its place on the page, and would be blurred, or has another shape */
export function sizeWarning(file: string): string | null {
  const has = sizeIn(file);
  const name = path.basename(file);
  const [, place = '', kind = '', width] =
    /^((hero|poster|guide|inside)(?:-\d+)?)-(\d+)\.\w+$/.exec(name) ?? [];
  const named = sizeInName(name);
  const needed =
    width !== undefined
      ? { width: Number(width), height: Math.round(Number(width) / (RATIOS[kind] ?? 1)) }
      : (named ?? (name === 'og.png' ? { width: 1200, height: 630 } : null));
  if (has === null || needed === null) return null;
  const say = (size: Size) => `${size.width} × ${size.height} pixels`;
  if (name.endsWith('.svg') || (has.width >= needed.width && has.height >= needed.height)) {
    const height = Math.round((needed.width * has.height) / has.width);
    return named === null || Math.abs(height - named.height) <= 1
      ? null
      : `has ${say(has)}, but its name says ${say(named)}, so the text moves when the picture appears. Rename it to ${nameWithSize(name, { width: named.width, height })}, also where it is used`;
  }
  return named === null
    ? `has ${say(has)}, but its place needs ${say(needed)}. Run "npm run picture -- ${place === '' ? 'og' : place} FILE" with a larger picture`
    : `has ${say(has)}, but its name says ${say(needed)}. Use a larger picture, or correct its name`;
}

function nameWithSize(file: string, size: Size | null): string {
  const { name, ext } = path.parse(file);
  const said = size === null ? 'WIDTHxHEIGHT' : `${Math.round(size.width)}x${Math.round(size.height)}`;
  return `${name.replace(/-\d+x\d+$/, '')}-${said}${ext}`;
}

/** @returns a phrase if the page cannot reserve space for a picture of the article */
export function missingSizeWarning(folder: string, file: string): string | null {
  if (sizeInName(file) !== null) return null;
  const name = nameWithSize(file, sizeIn(path.join(folder, 'media', file)));
  return `moves the text when the picture appears, because its name does not contain its size. Rename it to ${name}, here and in media/`;
}

/** Reads the size from the head of a PNG, WebP, AVIF, JPEG or SVG file. */
function sizeIn(file: string): Size | null {
  if (file.endsWith('.svg')) return svgSize(file);
  const content = readFileSync(file);
  const kind = content.toString('latin1', 8, 16);
  if (content.length < 64) return null;
  if (content.toString('latin1', 1, 4) === 'PNG')
    return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
  if (kind === 'WEBPVP8 ')
    return { width: content.readUInt16LE(26) & 0x3fff, height: content.readUInt16LE(28) & 0x3fff };
  if (kind === 'WEBPVP8X')
    return { width: content.readUIntLE(24, 3) + 1, height: content.readUIntLE(27, 3) + 1 };
  if (kind === 'WEBPVP8L') {
    const bits = content.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
  }
  if (content.readUInt16BE(0) === 0xffd8) return sizeInJpeg(content);
  const at = content.toString('latin1', 4, 8) === 'ftyp' ? content.indexOf('ispe') : -1;
  return at < 0 || at + 16 > content.length
    ? null
    : { width: content.readUInt32BE(at + 8), height: content.readUInt32BE(at + 12) };
}

/** @returns null for photos with camera data, because these may say that the picture is to be turned */
function sizeInJpeg(content: Buffer): Size | null {
  for (let at = 2; at + 9 <= content.length; at += 2 + content.readUInt16BE(at + 2)) {
    const marker = content[at + 1] ?? 0;
    if (content.toString('latin1', at + 4, at + 8) === 'Exif') return null;
    // The frame header; C4, C8 and CC are tables.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: content.readUInt16BE(at + 7), height: content.readUInt16BE(at + 5) };
  }
  return null;
}

type IconSet = {
  readonly icons: Readonly<Record<string, { readonly body: string }>>;
  readonly aliases: Readonly<Record<string, { readonly parent: string }>>;
};

/** Every outline icon begins with these lines. Filled icons do not match the page's icons. */
const LINES =
  /^<(?<tag>g|path) fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"/;

type Drawings = ReadonlyMap<string, string>;

let drawings: Drawings | null | undefined;

function readDrawings(): Drawings | null {
  let set: IconSet;
  try {
    const file = fileURLToPath(import.meta.resolve('@iconify-json/tabler/icons.json'));
    set = JSON.parse(readFileSync(file, 'utf8')) as IconSet;
  } catch (error) {
    if (errorCode(error) === 'ERR_MODULE_NOT_FOUND' || errorCode(error) === 'ENOENT') return null;
    throw error;
  }
  const names = [
    ...Object.keys(set.icons).map((name) => [name, name] as const),
    ...Object.entries(set.aliases).map(([name, { parent }]) => [name, parent] as const),
  ];
  return new Map(
    names.flatMap(([name, of]) => {
      const body = set.icons[of]?.body ?? '';
      return LINES.test(body)
        ? [[name, body.replace(LINES, '<$<tag>').replace(/^<g>(.*)<\/g>$/s, '$1')]]
        : [];
    }),
  );
}

const isDrawnHere = (name: string): boolean => (DRAWN_ICONS as readonly string[]).includes(name);

/** @returns SVG markup on a grid of 24 by 24; undefined for one of the page's own icons */
export function iconDrawing(name: string): string | undefined {
  if (isDrawnHere(name)) return undefined;
  if (drawings === undefined) drawings = readDrawings();
  return drawings?.get(name);
}

/** @returns a phrase with the nearest name; null if the name is right or the icon package is not installed */
export function iconMistake(name: string): string | null {
  if (isDrawnHere(name)) return null;
  if (drawings === undefined) drawings = readDrawings();
  if (drawings === null || drawings.has(name)) return null;
  const meant = meantBy(name.toLowerCase().replaceAll(/[\s_]+/g, '-'), [...DRAWN_ICONS, ...drawings.keys()]);
  return `there is no icon ${name}. Did you mean ${meant}? All names: ${DRAWN_ICONS.join(', ')}, and the outline icons at tabler.io/icons`;
}

const shortest = (names: readonly string[]): string | undefined =>
  names.reduce<string | undefined>(
    (best, name) => (best === undefined || name.length < best.length ? name : best),
    undefined,
  );

/** Corrects a misspelt name, a longer one (chart-bar for chart), or a shorter one (bulb for lightbulb). */
function meantBy(written: string, names: readonly string[]): string {
  const misspelt = nearestName(written, names, Math.max(1, Math.ceil(written.length / 4) - 1));
  if (misspelt !== null) return misspelt;
  const longer = shortest(names.filter((one) => written.length > 2 && one.split('-').includes(written)));
  const shorter = names
    .filter((one) => one.length > 3 && written.includes(one))
    .toSorted((one, other) => other.length - one.length);
  return (
    longer ??
    shorter[0] ??
    shortest(names.filter((one) => one.includes(written))) ??
    byNearness(written, names)[0] ??
    ''
  );
}
