import assert from 'node:assert/strict';
import { it } from 'node:test';

import { statement, valuesOf, type Value } from '#server/db/engine/statement.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';

type Wording = { readonly version: string; readonly text: string; readonly first_used_at: number };

for (const engine of ENGINES) {
  it(`on ${engine} a statement is composed once, and asked with the values of each call`, async () => {
    const database = await freshDatabase(engine);
    const other = await freshDatabase(engine);
    try {
      let composed = 0;
      const insert = statement((db, value: Value<Wording>) => {
        composed += 1;
        return db
          .insertInto('consent_wordings')
          .values(valuesOf(value, ['version', 'text', 'first_used_at']));
      });
      const find = statement((db, value: Value<{ readonly text: string; readonly since: number }>) =>
        db
          .selectFrom('consent_wordings')
          .select(['version', 'first_used_at'])
          // The same value twice, and one that never changes.
          .where((eb) => eb.or([eb('text', '=', value('text')), eb('version', '=', value('text'))]))
          .where('first_used_at', '>=', value('since'))
          .where('version', '!=', 'never'),
      );
      const wording = (version: string, at: number) => ({
        version,
        text: `Words ${version}`,
        first_used_at: at,
      });

      await insert(database.db, wording('a', 1));
      const { numAffectedRows } = await insert(database.db, wording('b', 2));
      assert.equal(numAffectedRows, 1n);
      // In a transaction, too, which another one rolls back.
      await database.db.transaction().execute((tx) => insert(tx, wording('c', 3)));
      await assert.rejects(
        database.db.transaction().execute(async (tx) => {
          await insert(tx, wording('d', 4));
          throw new Error('Not this one.');
        }),
      );
      assert.equal(composed, 1);

      const versions = async (text: string, since: number) =>
        (await find(database.db, { text, since })).rows.map(({ version }) => version);
      assert.deepEqual(await versions('Words b', 0), ['b']);
      assert.deepEqual(await versions('c', 3), ['c']);
      assert.deepEqual(await versions('c', 4), []);
      assert.deepEqual(await versions('Words d', 0), []);

      // Another database, and so another dialect.
      await insert(other.db, wording('a', 1));
      assert.equal(composed, 2);
    } finally {
      await database.close();
      await other.close();
    }
  });
}
