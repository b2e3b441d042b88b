import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import * as z from 'zod/mini';

import { Site } from '#shared/campaign-schema.ts';
import { colourMistakes, colourStyles, contrastOf } from '#shared/colours.ts';

const GREEN = {
  accent: { light: '#0e5a43', dark: '#8fd3b2' },
  plate: { light: '#123d30', dark: '#143a2e' },
};
const TOKENS = readFileSync(path.resolve(import.meta.dirname, '..', 'web', 'styles', 'tokens.css'), 'utf8');

it('contrastOf calculates contrast as WCAG does', () => {
  assert.equal(contrastOf('#000000', '#ffffff'), 21);
  assert.equal(contrastOf('#777777', '#777777'), 1);
  assert.equal(contrastOf('#767676', '#ffffff').toFixed(2), '4.54');
});

it('colourMistakes names each unreadable colour by its entry, but no default colour', () => {
  assert.deepEqual(colourMistakes(GREEN), []);
  const pale = {
    accent: { light: '#5fae92', dark: '#2f5f4d' },
    plate: { light: '#6f8f83', dark: '#143a2e' },
  };
  const result = z.safeParse(Site.shape.colors, pale);
  assert.deepEqual(
    result.error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    [
      'accent.light: has a contrast of 2.4:1 with the page, but words need 4.5:1. Choose a darker colour',
      'plate.light: has a contrast of 2.5:1 with the words on it, but words need 4.5:1. Choose a darker colour',
      'accent.dark: has a contrast of 1.7:1 with the page, but words need 4.5:1. Choose a lighter colour',
    ],
  );
  assert.ok(z.safeParse(Site.shape.colors, GREEN).success);
});

it('colourStyles sets only existing tokens', () => {
  for (const [, token = ''] of colourStyles(GREEN).matchAll(/--([\w-]+):/g))
    if (!['play-mark', 'spine'].includes(token)) assert.match(TOKENS, new RegExp(`--${token}: `), token);
  for (const ground of [
    '--paper: #faf7f0',
    '--paper: #12130f',
    '--card: #fffdf8',
    '--card: #1a1c17',
    '--on-plate: #f6f1e4',
  ])
    assert.ok(TOKENS.includes(ground), ground);
});
