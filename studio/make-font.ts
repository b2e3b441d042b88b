// Makes web/public/fonts/ and build/newsreader-display.woff2: subsets with only the characters and weights that the page uses.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { Blob, Face, Feature, Font } from 'harfbuzzjs';
import subsetFont from 'subset-font';

import { nameTable, replaceTable, shapeText, words } from '#build/headline-font.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const packageFolder = (name: string): string =>
  path.join(PROJECT_FOLDER, 'node_modules/@fontsource-variable', name);
const newsreaderFolder = packageFolder('newsreader');
const hankenFolder = packageFolder('hanken-grotesk');

const range = (from: number, to: number): string =>
  String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, index) => from + index));
const printableAscii = range(0x20, 0x7e);
// Newsreader has no → and no ≥; the next font in the stack supplies them.
const headingCharacters = `${printableAscii}’‘“”„–—…•·×©€ÄÖÜäöüßçéåñ`;

const newsreader = readFileSync(path.join(newsreaderFolder, 'files/newsreader-latin-opsz-normal.woff2'));
// The optical size for text and headings of 18 to 44 px. All digits have the same width.
const readingFont = await redrawn(headingCharacters, { opsz: 24, wght: { min: 400, max: 600 } });

const textCharacters = `${printableAscii}${range(0xa0, 0xff)}’‘‚“”„–—…•−€™ŒœŠšŽž`;
// The optical size for 64 px and more. The build extracts the letters of the campaign's words.
const displayFont = await redrawn(textCharacters, { opsz: 72, wght: 500 }, [new Feature('pnum', 1)]);

const hanken = readFileSync(path.join(hankenFolder, 'files/hanken-grotesk-latin-wght-normal.woff2'));
const textFont = await subsetFont(hanken, textCharacters, {
  targetFormat: 'woff2',
  variationAxes: { wght: { min: 400, max: 600 } },
  // Leaves out fractions and ligatures, which the page does not use.
  keepFeatures: ['kern', 'ccmp', 'locl'],
});

// Both fonts have the same licence, after a line that names the authors.
const newsreaderLicence = readFileSync(path.join(newsreaderFolder, 'LICENSE'), 'utf8');
const [authors] = readFileSync(path.join(hankenFolder, 'LICENSE'), 'utf8').split('\n', 1);

publish('web/public/fonts/newsreader.woff2', await withShortNames(readingFont, 'Newsreader'));
publish('web/public/fonts/hanken-grotesk.woff2', await withShortNames(textFont, 'Hanken'));
publish('web/public/fonts/OFL.txt', Buffer.from(`${authors}\n${newsreaderLicence}`));
publish('build/newsreader-display.woff2', displayFont);

type Axes = NonNullable<NonNullable<Parameters<typeof subsetFont>[2]>['variationAxes']>;

/** A subset of Newsreader that shows ' as ’ and applies the features to each character. */
async function redrawn(characters: string, axes: Axes, features: Feature[] = []): Promise<Buffer> {
  const font = await subsetFont(newsreader, characters, {
    targetFormat: 'sfnt',
    variationAxes: axes,
    noHinting: true,
  });
  const face = new Font(new Face(new Blob(font)));
  const glyphs = [...new Set(characters)].toSorted().flatMap((character) => {
    const [{ glyph } = { glyph: 0 }] = shapeText(face, character === "'" ? '’' : character, features);
    return glyph === 0 ? [] : [[character.charCodeAt(0), glyph] as const];
  });
  return subsetFont(replaceTable(font, 'cmap', characterMap(glyphs)), characters, {
    targetFormat: 'woff2',
    keepFeatures: ['kern', 'liga'],
  });
}

/** Saves half a kilobyte per visit. */
async function withShortNames(font: Buffer, name: string): Promise<Buffer> {
  const whole = await subsetFont(font, textCharacters, { targetFormat: 'sfnt', dropTables: ['STAT'] });
  return subsetFont(replaceTable(whole, 'name', nameTable(name)), textCharacters, { targetFormat: 'woff2' });
}

/** An OpenType `cmap` table in format 4, with one segment per character. */
function characterMap(glyphs: readonly (readonly [character: number, glyph: number])[]): Buffer {
  const codes = [...glyphs.map(([character]) => character), 0xff_ff];
  const distances = [...glyphs.map(([character, glyph]) => glyph - character), 1];
  const count = codes.length;
  const step = 2 ** Math.floor(Math.log2(count));
  const search = [2 * count, 2 * step, Math.log2(step), 2 * (count - step)];
  const segments = [...codes, 0, ...codes, ...distances, ...codes.map(() => 0)];
  return words(0, 1, 3, 1, 0, 12, 4, 16 + 8 * count, 0, ...search, ...segments);
}

function publish(name: string, content: Buffer): void {
  writeFileSync(path.join(PROJECT_FOLDER, name), content);
  process.stdout.write(`${content.length.toString().padStart(9)}  ${name}\n`);
}
