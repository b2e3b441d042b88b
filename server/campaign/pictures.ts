// Finds the pictures and videos that landing.yaml needs and their sizes, and checks that their content matches their
// extension. Also provides the Tabler icons that a campaign may name (decision 0032). Only the build needs the icon package.
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { brokenLink, namesIn } from '#server/campaign/campaign-folder.ts';
import { byNearness } from '#server/platform/mistakes.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { DRAWN_ICONS, type Landing } from '#shared/campaign-schema.ts';

const formatsOf = (names: readonly string[]): string[] =>
  names.flatMap((name) => [`${name}.avif`, `${name}.webp`]);

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

/** The name of a portrait, which may be written with its folder or its extension by mistake. */
export const portraitIn = (image: string): string => /^(?:media\/)?(.+?)(?:\.\w+)?$/.exec(image)?.[1] ?? '';

type Needed = { readonly entry: readonly PropertyKey[]; readonly files: readonly string[] };

/** Returns the files in media/ that each entry needs. Ignores entries with invalid file names. */
export function mediaOf({ hero, video, inside, promise, testimonials, logos }: Landing): Needed[] {
  const needs = (isPresent: boolean, entry: Needed['entry'], files: Needed['files']): Needed[] =>
    isPresent ? [{ entry, files }] : [];
  return [
    ...needs(
      hero.imageAlt !== undefined,
      ['hero', 'imageAlt'],
      formatsOf(['hero-640', 'hero-960', 'hero-1280']),
    ),
    ...needs(
      video !== undefined,
      ['video'],
      ['film.mp4', 'film.webm', 'film.vtt', ...formatsOf(['poster-640', 'poster-960'])],
    ),
    ...needs(promise?.imageAlt !== undefined, ['promise', 'imageAlt'], formatsOf(['guide-400', 'guide-800'])),
    ...(inside?.pictures ?? []).map((_, at) => ({
      entry: ['inside', 'pictures', at],
      files: formatsOf([`inside-${at + 1}-480`, `inside-${at + 1}-960`]),
    })),
    ...(logos?.companies ?? []).flatMap(({ logo = '' }, at) =>
      needs(logo.endsWith('.svg') || sizeInName(logo) !== null, ['logos', 'companies', at, 'logo'], [logo]),
    ),
    ...(testimonials?.cards ?? []).flatMap(({ image, logo }, at) => [
      ...needs(logo !== undefined, ['testimonials', 'cards', at, 'logo'], [logo ?? '']),
      ...needs(
        image !== undefined && portraitIn(image) === image,
        ['testimonials', 'cards', at, 'image'],
        formatsOf([image ?? '']),
      ),
    ]),
  ];
}

/** How a file of each type begins. */
const KINDS: Readonly<Record<string, readonly [name: string, signature: RegExp]>> = {
  '.avif': ['AVIF', /^....ftyp(?:avif|avis|mif1)/s],
  '.webp': ['WebP', /^RIFF....WEBP/s],
  '.png': ['PNG', /^\x89PNG/],
  '.jpg': ['JPEG', /^\xFF\xD8\xFF/],
  '.jpeg': ['JPEG', /^\xFF\xD8\xFF/],
  '.svg': ['SVG', /^(?:\xEF\xBB\xBF)?\s*(?:<\?xml|<!--|<!DOCTYPE svg|<svg)/i],
  '.mp4': ['MP4', /^....ftyp/s],
  '.webm': ['WebM', /^.E\xDF\xA3/s],
  '.vtt': ['WebVTT', /^(?:\xEF\xBB\xBF)?WEBVTT/],
};

/** @returns phrases that follow the name of the entry that needs the files */
export function mediaMistakes(folder: string, files: readonly string[]): string[] {
  const names = namesIn(path.join(folder, 'media'));
  const missing = files.filter((file) => !names.includes(file)).map((file) => `media/${file}`);
  const advice = `Add the missing ${missing.length === 1 ? 'file' : 'files'}, or remove the entry`;
  const mistakes = missing.length === 0 ? [] : [`needs ${missing.join(', ')}. ${advice}`];
  for (const file of files) {
    const mistake = names.includes(file) ? mistakeInFile(folder, file) : null;
    if (mistake !== null) mistakes.push(`media/${file} ${mistake}`);
  }
  return mistakes;
}

/** @returns a phrase that follows the name of the file */
export function mistakeInFile(folder: string, file: string): string | null {
  const place = path.join(folder, 'media', file);
  const broken = brokenLink(place);
  if (broken !== null) return broken;
  const [kind, signature] = KINDS[path.extname(file)] ?? [];
  if (signature !== undefined && !signature.test(firstBytesOf(place)))
    return `does not contain ${kind}. Save the file as ${kind}`;
  return kind === 'SVG' && svgSize(place) === null ? 'has no viewBox. Export the SVG with a viewBox' : null;
}

function firstBytesOf(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(256);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes));
  } catch {
    return '';
  } finally {
    closeSync(descriptor);
  }
}

const MAX_BYTES = { picture: 300_000, film: 15_000_000 };

export function weightWarning(file: string): string | null {
  const size = statSync(file).size;
  const isFilm = /\.(?:mp4|webm)$/.test(file);
  const most = isFilm ? MAX_BYTES.film : MAX_BYTES.picture;
  if (size <= most) return null;
  const format = (bytes: number) =>
    bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return `has a size of ${format(size)}, which visitors have to wait for. Save the file with less than ${format(most)}`;
}

/** Aspect ratios of pictures whose names contain only the width. */
const RATIOS: Readonly<Record<string, number>> = {
  hero: 5 / 4,
  poster: 16 / 9,
  guide: 4 / 3,
  inside: 16 / 11,
};

/** @returns a phrase if the picture is smaller than its place on the page, and would be blurred */
export function sizeWarning(file: string): string | null {
  const name = path.basename(file);
  const [, place = 'og', kind = '', width] =
    /^((hero|poster|guide|inside)(?:-\d+)?)-(\d+)\.\w+$/.exec(name) ?? [];
  if (width === undefined && name !== 'og.png') return null;
  const needed =
    width === undefined
      ? { width: 1200, height: 630 }
      : { width: Number(width), height: Math.round(Number(width) / (RATIOS[kind] ?? 1)) };
  const actual = readImageSize(file);
  if (actual === null || (actual.width >= needed.width && actual.height >= needed.height)) return null;
  const format = (size: Size) => `${size.width} × ${size.height} pixels`;
  return `has ${format(actual)}, but its place needs ${format(needed)}. Run "npm run picture -- ${place} FILE" with a larger picture`;
}

/** Reads the size from the head of a PNG, WebP or AVIF file. */
function readImageSize(file: string): Size | null {
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
  const at = content.toString('latin1', 4, 8) === 'ftyp' ? content.indexOf('ispe') : -1;
  return at < 0 || at + 16 > content.length
    ? null
    : { width: content.readUInt32BE(at + 8), height: content.readUInt32BE(at + 12) };
}

/** @returns SVG markup on a grid of 24 by 24; undefined for one of the page's own icons */
export function iconDrawing(name: string): string | undefined {
  if (isOwnIcon(name)) return undefined;
  return tablerIcons()?.get(name);
}

/** @returns a phrase with the nearest name; null if the name is right or the icon package is not installed */
export function iconMistake(name: string): string | null {
  if (isOwnIcon(name)) return null;
  const icons = tablerIcons();
  if (icons === null || icons.has(name)) return null;
  const names = [...DRAWN_ICONS, ...icons.keys()];
  const [meant] = byNearness(name.toLowerCase().replaceAll(/[\s_]+/g, '-'), names);
  return `there is no icon ${name}. Did you mean ${meant}? All names: ${DRAWN_ICONS.join(', ')}, and the outline icons at tabler.io/icons`;
}

const isOwnIcon = (name: string): boolean => (DRAWN_ICONS as readonly string[]).includes(name);

type IconSet = {
  readonly icons: Readonly<Record<string, { readonly body: string }>>;
  readonly aliases: Readonly<Record<string, { readonly parent: string }>>;
};

/** Every outline icon begins with these lines. Filled icons do not match the page's icons. */
const LINES =
  /^<(?<tag>g|path) fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"/;

type IconDrawings = ReadonlyMap<string, string>;

let cachedIcons: IconDrawings | null | undefined;

/** @returns null if the icon package is not installed */
function tablerIcons(): IconDrawings | null {
  if (cachedIcons === undefined) cachedIcons = readTablerIcons();
  return cachedIcons;
}

function readTablerIcons(): IconDrawings | null {
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
