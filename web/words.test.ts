import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');

/** Text between tags, attributes that visitors see or hear, and quoted sentences. */
const WORDS = [
  />\s*([^\s<>{}()=;|&?:][^<>{}=;|]*)<\//g,
  /\b(?:aria-label|aria-description|aria-roledescription|aria-valuetext|alt|title|placeholder)="([^"]+)"/g,
  /['"`](\p{Lu}\p{Ll}+(?: [\p{L}’]+)+[.!?…]*)['"`]/gu,
];

/** Strings that look like words, and the reason why visitors never see them. */
const NO_WORDS: Readonly<Record<string, string>> = {
  'Hanken Grotesk': 'the name of a font, in web/boot.ts',
};

it('web/ and shared/ contain no words for visitors', () => {
  const files = globSync(['web/**/*.{ts,tsx}', 'shared/*.ts'], {
    cwd: PROJECT_FOLDER,
    exclude: [
      '**/*.test.ts',
      '**/*.d.ts',
      // Shown to the operator.
      'shared/campaign-schema.ts',
      'shared/colours.ts',
      'shared/import-headings.ts',
      'shared/tools.ts',
      'shared/words.ts',
      // Shown to the operator by a visit counter.
      'web/analytics/counters.ts',
      'web/verification/mail-providers.ts',
    ],
  });
  assert.ok(files.length > 50, 'the files were found');
  const left = files.flatMap((file) => {
    const code = readFileSync(path.join(PROJECT_FOLDER, file), 'utf8').replaceAll(
      /\/\*[^]*?\*\/|\/\/ .*/g,
      '',
    );
    return WORDS.flatMap((words) => Array.from(code.matchAll(words), ([, text = '']) => text.trim()))
      .filter((text) => /\p{L}{2}/u.test(text) && !(text in NO_WORDS))
      .map((text) => `${file}: ${text}`);
  });
  assert.deepEqual(left, []);
});
