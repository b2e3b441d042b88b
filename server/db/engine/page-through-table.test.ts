import assert from 'node:assert/strict';
import { it } from 'node:test';

import { slicesOf, type Slice } from '#server/db/engine/page-through-table.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';

for (const engine of ENGINES)
  it(`on ${engine} slices hold each row of a range once, from its beginning and from its end`, async () => {
    const database = await freshDatabase(engine);
    try {
      const { db } = database;
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      const lead = { name: '', company: '', answers: null, attribution: '{}', flags: '' };
      for (const id of ids)
        await db
          .insertInto('leads')
          .values({ ...lead, id, email: `${id}@example.com`, first_verified_at: 1, last_verified_at: 1 })
          .execute();
      const held = ({ after, last }: Slice) => ids.filter((id) => id > after && id <= last).join('');
      const slices = async (size: number, newestFirst: boolean, begin = '', end: string | null = null) => {
        const found = slicesOf(db, { table: 'leads', column: 'id', size, newestFirst }, { begin, end });
        return (await Array.fromAsync(found)).map(held);
      };
      assert.deepEqual(await slices(3, false), ['abc', 'def', 'g']);
      assert.deepEqual(await slices(3, true), ['efg', 'bcd', 'a']);
      assert.deepEqual(await slices(7, true), ['abcdefg']);
      assert.deepEqual(await slices(1, true, 'c', 'g'), ['f', 'e', 'd']);
      assert.deepEqual(await slices(2, true, 'c'), ['fg', 'de']);
      assert.deepEqual(await slices(2, true, 'g'), []);
      assert.deepEqual(await slices(2, true, '', 'a'), []);
    } finally {
      await database.close();
    }
  });
