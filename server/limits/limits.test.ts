import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { waitInWords } from '#server/http/errors.ts';
import { networkOf } from '#server/limits/limits.ts';

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
