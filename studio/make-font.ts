// Makes the fonts in web/public/fonts/: the characters and weights that the page uses.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import subsetFont from 'subset-font';
import { hankenFolder, newsreaderFolder } from './open-scene.ts';
import { publish } from './publish.ts';

const range = (from: number, to: number): string =>
  String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, index) => from + index));
const printableAscii = range(0x20, 0x7e);
// Newsreader has no → and no ≥: where the page sets those two, the next font in the stack supplies them.
const headingCharacters = `${printableAscii}’‘“”„–—…•·×©éüöäåñß`;

const newsreader = await readFile(path.join(newsreaderFolder, 'files/newsreader-latin-opsz-normal.woff2'));
const headingFont = await subsetFont(newsreader, headingCharacters, {
  targetFormat: 'woff2',
  // Headings are set between 22 and 60 px, so one optical size in the middle serves them all.
  variationAxes: { opsz: 36, wght: { min: 400, max: 600 } },
});

// Latin-1 and what stands in text beside it: names of people and companies are set in this face.
const textCharacters = `${printableAscii}${range(0xa0, 0xff)}’‘‚“”„–—…•−€™ŒœŠšŽž`;
const hanken = await readFile(path.join(hankenFolder, 'files/hanken-grotesk-latin-wght-normal.woff2'));
const textFont = await subsetFont(hanken, textCharacters, {
  targetFormat: 'woff2',
  variationAxes: { wght: { min: 400, max: 600 } },
  // No fractions and no ligatures: the page sets none.
  keepFeatures: ['kern', 'ccmp', 'locl'],
});

await publish('fonts/newsreader.woff2', headingFont, 30_000);
await publish('fonts/hanken-grotesk.woff2', textFont, 20_000);

// Both fonts have the same licence, each below a line that names its makers.
const [newsreaderLicence, hankenLicence] = await Promise.all(
  [newsreaderFolder, hankenFolder].map((folder) => readFile(path.join(folder, 'LICENSE'), 'utf8')),
);
const makers = hankenLicence?.split('\n', 1)[0] ?? '';
await publish('fonts/OFL.txt', Buffer.from(`${makers}\n${newsreaderLicence}`));
