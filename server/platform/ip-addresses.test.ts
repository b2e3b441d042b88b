import assert from 'node:assert/strict';
import { it } from 'node:test';

import { isLoopback } from '#server/platform/ip-addresses.ts';
import { words } from '#testing/words.ts';

it('isLoopback recognises IP addresses of this machine', () => {
  const here = words('localhost LOCALHOST mail.localhost 127.0.0.1 127.9.9.9 [::1] ::ffff:127.0.0.1');
  for (const host of ['', ...here]) assert.equal(isLoopback(host), true, host);
  for (const host of words('0.0.0.0 10.0.0.1 db localhost.example.com [2001:db8::1] ::ffff:10.0.0.1'))
    assert.equal(isLoopback(host), false, host);
});
