import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

const WEB = path.resolve(import.meta.dirname, '..');
const listed = (file: string) =>
  Array.from(
    readFileSync(path.join(import.meta.dirname, file), 'utf8').matchAll(/'#web\/(\S+?\.css)/g),
    ([, name]) => name,
  );

describe('style sheets', () => {
  it('every style sheet belongs to either the page or the application, never to both', () => {
    const all = globSync('**/*.css', { cwd: WEB });
    assert.deepEqual(
      [
        ...globSync('critical*.ts', { cwd: import.meta.dirname }).flatMap(listed),
        ...listed('app-styles.ts'),
        ...listed('later-stages-styles.ts'),
      ].toSorted(),
      all.toSorted(),
    );
  });
});
