// Makes web/public/fonts/: subsets with only the characters and weights that the page uses.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import subsetFont from 'subset-font';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const packageFolder = (name: string): string =>
  path.join(PROJECT_FOLDER, 'node_modules/@fontsource-variable', name);
const newsreaderFolder = packageFolder('newsreader');
const hankenFolder = packageFolder('hanken-grotesk');

const range = (from: number, to: number): string =>
  String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, index) => from + index));
const printableAscii = range(0x20, 0x7e);
// Newsreader has no → and no ≥; the next font in the stack supplies them.
const headingCharacters = `${printableAscii}’‘“”„–—…•·×©éüöäåñß`;

const newsreader = readFileSync(path.join(newsreaderFolder, 'files/newsreader-latin-opsz-normal.woff2'));
const headingFont = await subsetFont(newsreader, headingCharacters, {
  targetFormat: 'woff2',
  // Headings have 22 to 60 px, so one optical size in the middle serves them all.
  variationAxes: { opsz: 36, wght: { min: 400, max: 600 } },
});

const textCharacters = `${printableAscii}${range(0xa0, 0xff)}’‘‚“”„–—…•−€™ŒœŠšŽž`;
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

publish('newsreader.woff2', headingFont);
publish('hanken-grotesk.woff2', textFont);
publish('OFL.txt', Buffer.from(`${authors}\n${newsreaderLicence}`));

function publish(name: string, content: Buffer): void {
  writeFileSync(path.join(PROJECT_FOLDER, 'web/public/fonts', name), content);
  process.stdout.write(`${content.length.toString().padStart(9)}  ${name}\n`);
}
