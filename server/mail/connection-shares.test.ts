import assert from 'node:assert/strict';
import { it } from 'node:test';

import { createConnectionShares } from '#server/mail/connection-shares.ts';

const mail = (network: string, domain: string) => ({ network, recipient_domain: domain });

it('one network or domain leaves at least one mail server connection for others', () => {
  const shares = createConnectionShares(5, () => 0);
  const ends = ['a', 'b', 'c', 'd'].map((domain) => shares.acquire(mail('192.0.2.1', `${domain}.example`)));
  assert.deepEqual(shares.fullLanes(), ['192.0.2.1']);
  ends[0]?.();
  assert.deepEqual(shares.fullLanes(), []);
  for (const host of [2, 3, 4, 5]) shares.acquire(mail(`192.0.2.${host}`, 'silent.example'));
  assert.deepEqual(shares.fullLanes(), ['silent.example']);
});

it('a slow network or domain gets two mail server connections, a quick one four', () => {
  let now = 0;
  const shares = createConnectionShares(5, () => now);
  const first = shares.acquire(mail('192.0.2.1', 'a.example'));
  shares.acquire(mail('192.0.2.1', 'b.example'));
  assert.deepEqual(shares.fullLanes(), []);
  now = 5_001;
  assert.deepEqual(shares.fullLanes(), ['192.0.2.1']);
  now = 10_000;
  first();
  const second = shares.acquire(mail('192.0.2.1', 'c.example'));
  assert.deepEqual(shares.fullLanes(), ['192.0.2.1'], 'a slow lane stays limited for a while');
  second();
  assert.deepEqual(shares.fullLanes(), []);
});

it('a network that was slow before the clock was set back gets four mail server connections', () => {
  let now = 86_400_000;
  const shares = createConnectionShares(5, () => now);
  const slow = shares.acquire(mail('192.0.2.1', 'a.example'));
  now += 5_001;
  slow();
  now -= 86_400_000;
  for (const domain of ['b', 'c', 'd']) shares.acquire(mail('192.0.2.1', `${domain}.example`));
  assert.deepEqual(shares.fullLanes(), []);
});

it('notices may use every mail server connection', () => {
  const shares = createConnectionShares(5, () => 0);
  for (let count = 0; count < 5; count += 1) shares.acquire({ network: null, recipient_domain: null });
  assert.deepEqual(shares.fullLanes(), []);
});
