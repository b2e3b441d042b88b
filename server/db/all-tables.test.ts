import assert from 'node:assert/strict';
import { it } from 'node:test';

import { descriptionOf, TABLE_NAMES, TABLES } from '#server/db/all-tables.ts';

it('every row about a person is erased or expires', () => {
  for (const table of TABLE_NAMES) {
    const { isAbout, erasure, expiry } = descriptionOf(table);
    assert.equal(isAbout === undefined, erasure === undefined, `${table}: erasure`);
    const isPersonal = Object.values(TABLES[table].columns).some(({ kind }) => kind === 'personal');
    if (isPersonal && erasure !== 'delete' && erasure !== 'custom')
      assert.ok(expiry !== undefined || table === 'desk_passkeys', `${table}: expiry`);
  }
});
