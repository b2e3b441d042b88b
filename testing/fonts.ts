// The text faces that browsers see in tests, in the place of the machine's: lines break at the same words everywhere. Fontconfig
// hands them out, so this holds on Linux; on macOS and Windows browsers use the system's own.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import subsetFont from 'subset-font';

const FOLDER = path.resolve(import.meta.dirname, '..', 'node_modules', '.cache', 'fonts');

const FACES = {
  /** The one face of a Debian machine on which no other was installed. It is wider than those that the page asks for. */
  wide: [
    '@fontsource/dejavu-sans/files/dejavu-sans-latin-400-normal.woff2',
    '@fontsource/dejavu-sans/files/dejavu-sans-latin-700-normal.woff2',
  ],
  /** The narrowest that the page asks for by name and that may be passed on. */
  narrow: ['@fontsource-variable/roboto/files/roboto-latin-wght-normal.woff2'],
} as const;

export type Face = keyof typeof FACES;

/** Chromium takes no compressed font from Fontconfig. All that DejaVu has below the symbols, and the symbols. */
const LETTERS = String.fromCodePoint(...Array.from({ length: 0x27c0 - 0x20 }, (_, index) => 0x20 + index));

/** The file that the environment variable FONTCONFIG_FILE has to name for a browser that sees this face and no other. */
export const fontconfigFile = (face: Face): string => path.join(FOLDER, face, 'fonts.conf');

/** Makes those files, and the fonts unless they are there. */
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
    // Slight hinting, as Debian and most others have it: without it the widths of letters are rounded.
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
