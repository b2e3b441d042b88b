import assert from 'node:assert/strict';
import { it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { searchContacts, contactPages } from '#server/db/contacts/people.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { ENGINES, withDatabase } from '#testing/databases.ts';
import { leadRow } from '#testing/lead-row.ts';
import { valuesOf } from '#testing/values-of.ts';

const NOW = Date.UTC(2026, 10, 20);

for (const engine of ENGINES)
  it(`paging from either end lists each person in a period once on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const leads = Array.from({ length: 300 }, (_, index) => {
        const at = index === 0 ? NOW - 2 * DAY_MS : NOW;
        return leadRow(uuid({ msecs: at, seq: index }), { first_verified_at: at, last_verified_at: at });
      });
      await db.insertInto('leads').values(leads).execute();
      const span = { since: NOW - DAY_MS, until: NOW + DAY_MS };
      const listed = async (filter: Parameters<typeof contactPages>[2]) =>
        valuesOf((await Array.fromAsync(contactPages(db, 'verified', filter))).flat(), 'id');
      const [, ...ids] = valuesOf(leads, 'id');
      assert.deepEqual(await listed(span), ids);
      assert.deepEqual(await listed({ ...span, newestFirst: true }), ids.toReversed());
      assert.deepEqual(await listed({ ...span, search: 'engines' }), ids);
      const { found: people } = await searchContacts(db, 'verified', span, {
        cursor: null,
        limit: 120,
        timeLimitMs: 10_000,
      });
      assert.deepEqual(valuesOf(people, 'id'), ids.toReversed().slice(0, 120));
    }));
