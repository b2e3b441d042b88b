// With these fonts, lines break at the same words on every machine. Works through Fontconfig, so only on Linux.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import subsetFont from 'subset-font';

const FOLDER = path.resolve(import.meta.dirname, '..', 'node_modules', '.cache', 'fonts');

const FACES = {
  /** The only font of a minimal Debian; wider than the fonts that the page requests. */
  wide: [
    '@fontsource/dejavu-sans/files/dejavu-sans-latin-400-normal.woff2',
    '@fontsource/dejavu-sans/files/dejavu-sans-latin-700-normal.woff2',
  ],
  /** The narrowest redistributable font that the page requests. */
  narrow: ['@fontsource-variable/roboto/files/roboto-latin-wght-normal.woff2'],
} as const;

export type Face = keyof typeof FACES;

/** Chromium ignores compressed fonts from Fontconfig. These are all of DejaVu's characters up to the symbols. */
const LETTERS = String.fromCodePoint(...Array.from({ length: 0x27c0 - 0x20 }, (_, index) => 0x20 + index));

export const fontconfigFile = (face: Face): string => path.join(FOLDER, face, 'fonts.conf');

export async function makeFonts(): Promise<void> {
  for (const face of Object.keys(FACES) as Face[]) {
    const conf = fontconfigFile(face);
    const folder = path.dirname(conf);
    mkdirSync(folder, { recursive: true });
    for (const name of FACES[face]) {
      const font = path.join(folder, `${path.basename(name, '.woff2')}.ttf`);
      if (existsSync(font)) continue;
      const compressed = readFileSync(fileURLToPath(import.meta.resolve(name)));
      writeFileSync(`${font}.new`, await subsetFont(compressed, LETTERS, { targetFormat: 'sfnt' }));
      renameSync(`${font}.new`, font);
    }
    // Debian's default is slight hinting; without it, letter widths are rounded.
    writeFileSync(
      conf,
      `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${folder}</dir>
  <cachedir>${path.join(folder, 'cache')}</cachedir>
  <match target="pattern">
    <edit name="hintstyle" mode="append"><const>hintslight</const></edit>
  </match>
</fontconfig>
`,
    );
  }
}
