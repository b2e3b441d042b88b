// With these fonts, lines break at the same words on every machine. Works through Fontconfig, so only on Linux.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import subsetFont from 'subset-font';

const FOLDER = path.resolve(import.meta.dirname, '..', 'node_modules', '.cache', 'fonts');

/**
 * The only font of a minimal Debian, wider than all fonts in the page's stack, and the narrowest redistributable font of that
 * stack.
 */
export const MACHINE_FONTS = ['DejaVu Sans', 'Roboto'] as const;

const FILES = [
  '@fontsource/dejavu-sans/files/dejavu-sans-latin-400-normal.woff2',
  '@fontsource/dejavu-sans/files/dejavu-sans-latin-700-normal.woff2',
  '@fontsource-variable/roboto/files/roboto-latin-wght-normal.woff2',
];

export const FONTCONFIG_FILE = path.join(FOLDER, 'fonts.conf');

/** Chromium ignores compressed fonts from Fontconfig. These are all of DejaVu's characters up to the symbols. */
const LETTERS = String.fromCodePoint(...Array.from({ length: 0x27c0 - 0x20 }, (_, index) => 0x20 + index));

export async function makeFonts(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of FILES) {
    const font = path.join(FOLDER, `${path.basename(name, '.woff2')}.ttf`);
    if (existsSync(font)) continue;
    const compressed = readFileSync(fileURLToPath(import.meta.resolve(name)));
    writeFileSync(`${font}.new`, await subsetFont(compressed, LETTERS, { targetFormat: 'sfnt' }));
    renameSync(`${font}.new`, font);
  }
  // Debian's default is slight hinting; without it, letter widths are rounded.
  writeFileSync(
    FONTCONFIG_FILE,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${FOLDER}</dir>
  <cachedir>${path.join(FOLDER, 'cache')}</cachedir>
  <match target="pattern">
    <edit name="hintstyle" mode="append"><const>hintslight</const></edit>
    <edit name="family" mode="append_last"><string>DejaVu Sans</string></edit>
  </match>
</fontconfig>
`,
  );
}
