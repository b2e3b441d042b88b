import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { waitInWords } from '#server/http/errors.ts';
import { createLimits, networkOf } from '#server/limits/limits.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';

describe('the network of an address', () => {
  it('is the address itself in IPv4, also when written as IPv6', () => {
    assert.equal(networkOf('203.0.113.7'), '203.0.113.7');
    assert.equal(networkOf('::ffff:203.0.113.7'), '203.0.113.7');
  });

  it('is the /64 in IPv6, however it is written', () => {
    const network = networkOf('2001:db8:1:2:3:4:5:6');
    assert.equal(network, '2001:db8:1:2:0:0:0:0/64');
    assert.equal(networkOf('2001:0db8:0001:0002::1'), network);
    assert.equal(networkOf('2001:DB8:1:2::'), network);
    assert.notEqual(networkOf('2001:db8:1:3::1'), network);
    assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0:0:0:0:0/64');
  });

  it('is what was given when that is no address at all', () => {
    assert.equal(networkOf('unknown'), 'unknown');
  });
});

describe('a wait', () => {
  it('is told in words a person uses', () => {
    const words = ([1, 40, 89, 90, 600, 5399, 5400, 86_400] as const).map(waitInWords);
    assert.deepEqual(words, [
      'in 1 second',
      'in 40 seconds',
      'in 89 seconds',
      'in 2 minutes',
      'in 10 minutes',
      'in 90 minutes',
      'in 2 hours',
      'in 24 hours',
    ]);
  });
});

const HOUR_MS = 3_600_000;

for (const engine of ENGINES) {
  it(`tries without a challenge are twenty in any 24 hours, on ${engine}`, async () => {
    const { db, close } = await freshDatabase(engine);
    try {
      const limits = createLimits({
        limits: { leadsPerIpPerHour: 0, leadsPerEmailPerHour: 0, verifyPerIpPerHour: 0, codeAttempts: 5 },
        codeTtlSeconds: 600,
        resendSeconds: 60,
      });
      const start = Date.UTC(2026, 10, 20, 12, 34, 56);
      const tryAt = async (hours: number) =>
        (await limits.tryWithoutChallenge(db, 'ada@example.com', start + hours * HOUR_MS)).type;
      const allowedAt = async (hours: number) => {
        let allowed = 0;
        while ((await tryAt(hours)) === 'allowed') allowed += 1;
        return allowed;
      };
      assert.equal(await tryAt(0), 'allowed');
      // The rest of the day's budget around the end of a day that began with the first try: five in ten minutes.
      assert.equal(await allowedAt(23), 5);
      assert.equal(await allowedAt(23.3), 5);
      assert.equal(await allowedAt(23.6), 5);
      assert.equal(await allowedAt(23.9), 4);
      assert.equal(await allowedAt(24.2), 0, 'the try at the start still counts for this hour');
      assert.equal(await allowedAt(25.2), 1, 'one has left the window');
      assert.equal(await allowedAt(46), 0);
      const refused = await limits.tryWithoutChallenge(db, 'ada@example.com', start + 46 * HOUR_MS);
      assert.ok(
        refused.type === 'exceeded' && refused.retryAfterSeconds <= 2 * 3600,
        JSON.stringify(refused),
      );
      assert.equal(await allowedAt(49.5), 5, 'and next day it is as before');
    } finally {
      await close();
    }
  });
}
