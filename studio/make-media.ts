import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import sharp, { type Sharp } from 'sharp';

import { endWithSentence, explainWriteFailure } from '#server/platform/system-errors.ts';
import { readCampaignFolder, unreadableSettings } from '#server/settings/env-file.ts';
import { PAPER } from '#shared/colours.ts';

type Size = readonly [width: number, height: number];

const PICTURES: Readonly<Record<string, readonly Size[]>> = {
  hero: [
    [640, 512],
    [960, 768],
    [1280, 1024],
  ],
  poster: [
    [640, 360],
    [960, 540],
  ],
  guide: [
    [400, 300],
    [800, 600],
  ],
};
const OPEN_PAGES: readonly Size[] = [
  [480, 330],
  [960, 660],
];
const PERSON: Size = [160, 160];
const LARGEST_ICON: Size = [512, 512];
const LINK_PREVIEW: Size = [1200, 630];
const USAGE = `Usage: npm run picture -- PLACE FILE
PLACE is one of
  hero      next to the headline
  poster    shown until the film is played
  guide     next to the contents and the form
  inside-1  the first of the open pages; inside-2 for the second, and so on
  og        the preview of shared links
  icons     browser tabs and home screens, from a square picture
  NAME      a person in a testimonial: the "image" of landing.yaml, such as avatar-jane-doe
`;

endWithSentence();
const [place, file] = process.argv.slice(2);
if (place === undefined || file === undefined || !/^[\w-]+$/.test(place)) {
  process.stderr.write(USAGE);
  process.exit(1);
}
const [unreadable] = unreadableSettings();
if (unreadable !== undefined) fail(unreadable);
const campaign = readCampaignFolder();
refuseUnknown(place);

function refuseUnknown(where: string): void {
  const landing = path.join(campaign, 'landing.yaml');
  const isNamed =
    existsSync(landing) &&
    new RegExp(`\\bimage["']?: *["']?${where}["']?\\s`).test(readFileSync(landing, 'utf8'));
  if (isNamed || /^(?:inside-[1-9]\d*|avatar-.+|og|icons)$/.test(where) || where in PICTURES) return;
  fail(`There is no place called ${where}.\n${USAGE}`);
}

/** Accepts any SVG, because it has no size in pixels. */
async function refuseSmall(source: string, [width, height]: Size): Promise<void> {
  const { format, autoOrient } = await sharp(source).metadata();
  if (format === 'svg' || (autoOrient.width >= width && autoOrient.height >= height)) return;
  fail(
    `${source} is too small: it has ${autoOrient.width} × ${autoOrient.height} pixels, and ${place} needs at least ${width} × ${height}.`,
  );
}

async function make(where: string, source: string): Promise<void> {
  if (where === 'icons') return makeIcons(source);
  const sizes = where === 'og' ? [LINK_PREVIEW] : where.startsWith('inside-') ? OPEN_PAGES : PICTURES[where];
  await refuseSmall(source, sizes?.at(-1) ?? PERSON);
  // Programs that show link previews replace transparency with a colour, such as black.
  if (where === 'og')
    return write(
      'media/og.png',
      fit(source, LINK_PREVIEW).flatten({ background: PAPER.light }).png({ palette: true }),
    );
  const named = sizes?.map((size) => ({ name: `${where}-${size[0]}`, size })) ?? [
    { name: where, size: PERSON },
  ];
  for (const { name, size } of named) {
    await write(`media/${name}.avif`, fit(source, size).avif({ quality: 55 }));
    await write(`media/${name}.webp`, fit(source, size).webp({ quality: 78 }));
  }
}

async function makeIcons(source: string): Promise<void> {
  await refuseSmall(source, LARGEST_ICON);
  const square = (edge: number) =>
    sharp(source, { density: 600 }).rotate().resize(edge, edge, { fit: 'contain', background: '#0000' });
  // Home screens do not support transparency; a mask cuts a fifth off each edge.
  const onPaper = async (edge: number, share: number) => {
    const margin = Math.round((edge * (1 - share)) / 2);
    const inner = await square(edge - 2 * margin)
      .png()
      .toBuffer();
    return sharp(inner)
      .extend({ top: margin, bottom: margin, left: margin, right: margin, background: PAPER.light })
      .flatten({ background: PAPER.light })
      .png();
  };
  await write('icons/icon-192.png', square(192).png());
  await write('icons/icon-512.png', square(512).png());
  await write('icons/apple-touch-icon.png', await onPaper(180, 0.84));
  await write('icons/icon-maskable-512.png', await onPaper(512, 0.6));
  const small = await square(32).png().toBuffer();
  save('icons/favicon.ico', iconOf(small));
  if (source.endsWith('.svg')) save('icons/favicon.svg', readFileSync(source));
  else save('icons/favicon.svg', svgAround(await square(48).png({ palette: true }).toBuffer()));
}

function iconOf(png: Buffer): Buffer {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.writeUInt8(32, 6);
  head.writeUInt8(32, 7);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}

const svgAround = (png: Buffer): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><image width="64" height="64" href="data:image/png;base64,${png.toString('base64')}"/></svg>\n`,
  );

const fit = (source: string, [width, height]: Size): Sharp =>
  sharp(source, { density: 300 })
    .rotate()
    .resize(width, height, { fit: 'cover', position: sharp.strategy.attention });

const write = async (name: string, picture: Sharp): Promise<void> => save(name, await picture.toBuffer());

/** Replaces the old picture only when the new one is complete; keeps a symbolic link. */
function save(name: string, content: Buffer): void {
  const target = path.join(campaign, name);
  try {
    mkdirSync(path.dirname(target), { recursive: true });
    replaceFile(existsSync(target) ? realpathSync(target) : target, content);
  } catch (error) {
    const sentence = explainWriteFailure(error, target);
    if (sentence === null) throw error;
    fail(sentence);
  }
  process.stdout.write(`${name.padEnd(28)} ${content.length.toLocaleString('en').padStart(9)} bytes\n`);
}

function replaceFile(target: string, content: Buffer): void {
  const partial = `${target}.part`;
  try {
    writeFileSync(partial, content);
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

try {
  await make(place, file);
  process.stdout.write(`Written to ${campaign}\n`);
} catch (error) {
  // Only Sharp's errors about a picture have neither class nor code.
  if (!(error instanceof Error) || error.constructor !== Error || 'code' in error) throw error;
  fail(`${file} cannot be used: ${error.message}`);
}
