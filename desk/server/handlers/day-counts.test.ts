import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createDayCounts } from '#desk/server/handlers/day-counts.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { withServer } from '#testing/server-under-test.ts';

it('a cached count that expires during a parallel request is not treated as 0', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    await becomeLead(server, 'ada@example.com');
    const from = Math.floor(server.now() / DAY_MS) * DAY_MS;
    const yesterday = [{ from, to: from + DAY_MS }];
    const { database, config } = server.service;
    let now = from + 1.5 * DAY_MS;
    const countEach = createDayCounts({ database, config, clock: () => now });
    assert.deepEqual(await countEach('leads', yesterday), [1]);
    now += HOUR_MS + ((from / DAY_MS) % 60) * MINUTE_MS - 1;
    const first = countEach('leads', yesterday);
    now += 1;
    const second = countEach('leads', yesterday);
    assert.deepEqual(await Promise.all([first, second]), [[1], [1]]);
  }));
