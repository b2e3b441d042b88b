import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { parseDocument } from 'yaml';

import { yamlMistakes } from '#server/campaign/yaml-mistakes.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';

const ENTRY = /^ *(?:- +)*[\w-]+:(?: |$)|^ *- /;

function mistakesWithLines(text: string): string[] {
  return yamlMistakes(parseDocument(text, { prettyErrors: false }), text).map(
    ({ at, message }) => `${text.slice(0, at).split('\n').length}: ${message}`,
  );
}

it('a wrongly indented entry is reported once, with its own line', () => {
  const files = readdirSync(TEST_CAMPAIGN).filter((name) => name.endsWith('.yaml'));
  const wrong: string[] = [];
  let tried = 0;
  for (const file of files) {
    const lines = readFileSync(path.join(TEST_CAMPAIGN, file), 'utf8').split('\n');
    for (const [at, line] of lines.entries()) {
      if (!ENTRY.test(line)) continue;
      for (const changed of [` ${line}`, line.replace(/^ /, '')]) {
        const text = lines.with(at, changed).join('\n');
        if (changed === line || parseDocument(text).errors.length === 0) continue;
        tried += 1;
        const expected = `${at + 1}: cannot be read: the line is not indented like the lines around it. Correct the spaces at its beginning.`;
        const found = mistakesWithLines(text);
        if (found.length !== 1 || found[0] !== expected)
          wrong.push(`${file}: "${changed}" at ${at + 1} gives ${found.join(' | ')}`);
      }
    }
  }
  assert.ok(tried > 300, String(tried));
  assert.deepEqual(wrong, []);
});

it('a full-width colon within a text is not reported for another mistake', () => {
  const block = 'note: |\n  Hinweis：gut\n';
  assert.deepEqual(mistakesWithLines(`${block}title: "Guide\n`), [
    '3: cannot be read: the quotation that begins here does not end. Add the closing quotation mark.',
  ]);
  assert.deepEqual(mistakesWithLines(`${block}title：Guide\n`), [
    '3: cannot be read: after title is a character that only looks like a colon or a space. Type a normal colon and space.',
  ]);
});
