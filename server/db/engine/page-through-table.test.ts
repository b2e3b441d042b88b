import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { pagesAfter, slicesBackwards, slicesOf, type Slice } from '#server/db/engine/page-through-table.ts';
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

function createPages(last: number) {
  const begun: number[] = [];
  let reading = 0;
  const readAfter = async (after: number) => {
    begun.push(after);
    reading += 1;
    await sleep(5);
    reading -= 1;
    if (after === last) throw new Error('the database has gone away');
    return [after + 1];
  };
  return { begun, isReading: () => reading > 0, pages: () => pagesAfter(0, readAfter, (row) => row) };
}

it('the next page of a table is read while the caller works on the previous one', async () => {
  const { begun, pages } = createPages(10);
  const reader = pages();
  assert.deepEqual(await reader.next(), { done: false, value: [1] });
  assert.deepEqual(begun, [0, 1]);
  assert.deepEqual(await reader.next(), { done: false, value: [2] });
  assert.deepEqual(begun, [0, 1, 2]);
  await reader.return();
});

it('a caller that stops paging early leaves no statement running', async () => {
  const { isReading, pages } = createPages(10);
  for await (const [row] of pages()) if (row === 2) break;
  assert.equal(isReading(), false);
});

it('an unreadable page of a table causes an error only when the caller reaches it', async () => {
  const { pages } = createPages(2);
  const rows: number[] = [];
  await assert.rejects(async () => {
    for await (const [row] of pages()) {
      await sleep(20);
      rows.push(row!);
    }
  }, /gone away/);
  assert.deepEqual(rows, [1, 2]);
});
