import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createIsProxy, readAddress } from '#server/http/visitor-address.ts';

describe('a network address', () => {
  it('is read with a port, in brackets, with a zone, and as IPv4 in IPv6', () => {
    const written: Record<string, string> = {
      '203.0.113.7': '203.0.113.7',
      ' 203.0.113.7\t': '203.0.113.7',
      '203.0.113.7:4711': '203.0.113.7',
      '::ffff:203.0.113.7': '203.0.113.7',
      '::ffff:cb00:7107': '203.0.113.7',
      '[::ffff:203.0.113.7]:80': '203.0.113.7',
      '[::1]:80': '::1',
      '[::1]': '::1',
      '2001:DB8:0:0:0:0:0:9': '2001:db8::9',
      '[2001:db8::9]:4711': '2001:db8::9',
      'fe80::1%eth0': 'fe80::1',
      '[fe80::1%25eth0]:80': 'fe80::1',
    };
    for (const [text, address] of Object.entries(written)) assert.equal(readAddress(text), address, text);
  });

  it('is nothing else', () => {
    for (const text of [
      '',
      ' ',
      'unknown',
      '_hidden',
      'localhost',
      '127.1',
      '0x7f.0.0.1',
      '2130706433',
      '256.1.1.1',
      '1.2.3',
      '1.2.3.4.5',
      '203.0.113.7:',
      '203.0.113.7:x',
      '203.0.113.7/24',
      '::1::',
      '[::1',
      '::1]',
      '[]:80',
      '%eth0',
      '203.0.113.7 evil',
      `::1%${'z'.repeat(200)}`,
      '1'.repeat(8_192),
    ]) {
      assert.equal(readAddress(text), null, text.slice(0, 40));
    }
  });
});

describe('a proxy', () => {
  it('is known by its network, however that is named, and whatever the address is written as', () => {
    const isProxy = createIsProxy(['10.0.0.0/8', '2001:db8::/32', '198.51.100.9', 'loopback']);
    for (const address of ['10.1.2.3', '2001:db8:1::1', '198.51.100.9', '127.0.0.9', '::1']) {
      assert.ok(isProxy(address, 0), address);
    }
    for (const address of ['11.0.0.1', '2001:db9::1', '198.51.100.8', '::2']) {
      assert.ok(!isProxy(address, 0), address);
    }
  });
});
