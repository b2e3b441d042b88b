// Sealing in the process that serves visitors: it leaves them most of the time.
import assert from 'node:assert/strict';
import { constants, performance, PerformanceObserver, type NodeGCPerformanceDetail } from 'node:perf_hooks';
import { describe, it } from 'node:test';

import { createCollector } from '#server/platform/collect-garbage.ts';
import { createSealer } from '#server/upkeep/consent-sealer.ts';
import { agree } from '#testing/consents.ts';
import { until } from '#testing/until.ts';
import { withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

/** Three batches. */
const ROWS = 300;

/** Leaves withdrawals to be sealed: the rows of which there can be many of one person. */
async function withdraw({ database, now }: ServerUnderTest): Promise<void> {
  const { id } = await database.db.selectFrom('leads').select('id').executeTakeFirstOrThrow();
  const rows = Array.from({ length: ROWS }, (_, n) => ({
    id: `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    lead_id: id,
    way: 'by-hand' as const,
    withdrawn_at: now(),
    client_address: null,
    user_agent: null,
  }));
  await database.db.insertInto('withdrawals').values(rows).execute();
}

const isForced = (entry: PerformanceEntry): boolean => {
  const { flags } = (entry as PerformanceEntry & { readonly detail: NodeGCPerformanceDetail }).detail;
  return (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
};

describe('sealing beside visitors', () => {
  it('never collects garbage, however much visitors make meanwhile', () =>
    withServer({ engine: 'sqlite' }, async (server) => {
      await agree(server, 'ada@example.com');
      await withdraw(server);
      const forced: PerformanceEntry[] = [];
      const observer = new PerformanceObserver((list) => forced.push(...list.getEntries().filter(isForced)));
      observer.observe({ entryTypes: ['gc'] });
      const ofVisitors: number[][] = [];
      // 24 MB.
      const grow = () => ofVisitors.push(Array.from({ length: 3e6 }, () => 0));
      const clock = () => {
        grow();
        return server.now();
      };
      try {
        await createSealer({ ...server.service, clock }, () => false)();
        const ended = performance.now();
        // As the desk does for itself. This one is seen, so one before it would be, too.
        const collect = createCollector();
        grow();
        collect();
        await until(() => forced.some(({ startTime }) => startTime >= ended));
        assert.ok(ofVisitors.length >= 3, `the clock was asked ${ofVisitors.length} times`);
        assert.equal(forced.filter(({ startTime }) => startTime < ended).length, 0);
      } finally {
        observer.disconnect();
      }
    }));

  it('rests between its batches for longer than they take', () =>
    withServer({ engine: 'sqlite' }, async (server) => {
      await agree(server, 'ada@example.com');
      await withdraw(server);
      const [begun, before] = [performance.now(), process.cpuUsage()];
      await createSealer(server.service, () => false)();
      const { user, system } = process.cpuUsage(before);
      const share = (user + system) / 1000 / (performance.now() - begun);
      assert.equal(await server.countRows('consent_chain'), ROWS + 1);
      // A busy machine makes the share smaller, never larger.
      assert.ok(share < 0.5, `${(share * 100).toFixed(0)} % of the time`);
    }));
});
