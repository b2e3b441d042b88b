import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createDayCounts } from '#desk/server/handlers/day-counts.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { deskClient } from '#testing/desk-handlers.ts';
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

it('a past day is counted again after an erasure', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const { leadId } = await becomeLead(server, 'ada@example.com');
    await becomeLead(server, 'eve@example.com');
    const from = Math.floor(server.now() / DAY_MS) * DAY_MS;
    const yesterday = [{ from, to: from + DAY_MS }];
    await server.advance(DAY_MS / 1000);
    const countEach = createDayCounts(server.service);
    assert.deepEqual(await countEach('leads', yesterday), [2]);
    await server.advance(30 * 60);
    await deskClient(server.service).ask('erase', { id: leadId, email: 'ada@example.com' });
    assert.deepEqual(await countEach('leads', yesterday), [1]);
  }));

it('a day counted while the clock was ahead is counted again once it has passed', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const from = Math.floor(server.now() / DAY_MS) * DAY_MS;
    const day = [{ from, to: from + DAY_MS }];
    const { database, config } = server.service;
    let now = from + 9 * DAY_MS;
    const countEach = createDayCounts({ database, config, clock: () => now });
    assert.deepEqual(await countEach('leads', day), [0]);
    await becomeLead(server, 'ada@example.com');
    now = from + 2 * DAY_MS;
    assert.deepEqual(await countEach('leads', day), [1]);
  }));
