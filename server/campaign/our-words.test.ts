import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { parse } from 'yaml';

import { PROJECT_FOLDER } from '#server/platform/files.ts';

/** Quoted verbatim from sections 2 and 4 of the specification. */
const QUOTED = new Set([
  "What You'll Learn",
  'Sending Code...',
  'Verifying code...',
  '3.5x improvement in 60 days',
]);
const TYPED = /["']|\.\.\.|(?<![\d.])(?!10\.2x)\d+(?:\.\d+)?x\b/;

const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
};

for (const campaign of ['campaign', 'examples/german'])
  test(`${campaign}/ uses typographic quotes, ellipses and multiplication signs`, () => {
    const folder = path.join(PROJECT_FOLDER, campaign);
    const typed = globSync(['*.yaml', 'emails/*.yaml'], { cwd: folder }).flatMap((file) =>
      textsOf(parse(readFileSync(path.join(folder, file), 'utf8')))
        .filter((text) => TYPED.test(text) && !QUOTED.has(text))
        .map((text) => `${file}: ${text}`),
    );
    const prose = readFileSync(path.join(folder, 'article/article.md'), 'utf8').replaceAll(
      /```[^]*?```/g,
      '',
    );
    typed.push(...prose.split('\n').filter((line) => TYPED.test(line)));
    assert.deepEqual(typed, []);
  });
