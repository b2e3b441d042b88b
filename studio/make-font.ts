// Makes web/public/fonts/newsreader.woff2: the characters and weights that the page uses, at one optical size.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import subsetFont from 'subset-font';
import { newsreaderFolder } from './open-scene.ts';
import { publish } from './publish.ts';

const printableAscii = Array.from({ length: 95 }, (_, index) => String.fromCodePoint(32 + index)).join('');
// Newsreader has no → and no ≥: where the page sets those two, the next font in the stack supplies them.
const characters = `${printableAscii}’‘“”–—…•·×©éüöäåñ`;

const source = await readFile(path.join(newsreaderFolder, 'files/newsreader-latin-opsz-normal.woff2'));
const subset = await subsetFont(source, characters, {
  targetFormat: 'woff2',
  // Headings are set between 22 and 60 px, so one optical size in the middle serves them all.
  variationAxes: { opsz: 36, wght: { min: 400, max: 600 } },
});

await publish('fonts/newsreader.woff2', subset, 30_000);
await publish('fonts/OFL.txt', await readFile(path.join(newsreaderFolder, 'LICENSE')));
