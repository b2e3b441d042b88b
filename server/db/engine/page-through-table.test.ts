import assert from 'node:assert/strict';
import { it } from 'node:test';

import { slicesBackwards, slicesOf, type Slice } from '#server/db/engine/page-through-table.ts';
import { ENGINES, withDatabase } from '#testing/databases.ts';
import { leadRow } from '#testing/lead-row.ts';

for (const engine of ENGINES)
  it(`paging a table on ${engine} from either end returns each row of a range once`, () =>
    withDatabase(engine, async (database) => {
      const { db } = database;
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      const rows = ids.map((id) => leadRow(id, {}));
      await db.insertInto('leads').values(rows).execute();
      const held = ({ after, last }: Slice) => ids.filter((id) => id > after && id <= last).join('');
      const slices = async (size: number, newestFirst: boolean, begin = '', end: string | null = null) => {
        const range = { begin, end };
        const found = newestFirst
          ? slicesBackwards(db, 'leads', range, null, size)
          : slicesOf(db, 'leads', range, size);
        return (await Array.fromAsync(found)).map(held);
      };
      assert.deepEqual(await slices(3, false), ['abc', 'def', 'g']);
      assert.deepEqual(await slices(3, true), ['efg', 'bcd', 'a']);
      assert.deepEqual(await slices(7, true), ['abcdefg']);
      assert.deepEqual(await slices(1, true, 'c', 'g'), ['f', 'e', 'd']);
      assert.deepEqual(await slices(2, true, 'c'), ['fg', 'de']);
      assert.deepEqual(await slices(2, true, 'g'), []);
      assert.deepEqual(await slices(2, true, '', 'a'), []);
    }));
