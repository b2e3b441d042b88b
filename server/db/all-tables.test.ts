import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { descriptionOf, TABLE_NAMES, TABLES } from '#server/db/all-tables.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';

it('docs/architecture.md describes only existing tables', () => {
  const document = readFileSync(path.join(PROJECT_FOLDER, 'docs', 'architecture.md'), 'utf8');
  const [, data = ''] = document.split('\n## What does each table hold?\n');
  const [tables = ''] = data.split('\n## ');
  const named = Array.from(tables.matchAll(/`(\w+)`/g), ([, table]) => table);
  assert.ok(named.length > 5);
  assert.deepEqual(
    named.filter((name) => !TABLE_NAMES.some((table) => table === name)),
    [],
  );
});

it('every row about a person is erased or expires', () => {
  for (const table of TABLE_NAMES) {
    const { isAbout, erasure, expiry } = descriptionOf(table);
    assert.equal(isAbout === undefined, erasure === undefined, `${table}: erasure`);
    const isPersonal = Object.values(TABLES[table].columns).some(({ kind }) => kind === 'personal');
    if (isPersonal && erasure !== 'delete' && erasure !== 'custom')
      assert.ok(expiry !== undefined || table === 'desk_passkeys', `${table}: expiry`);
  }
});
