import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { hasBareAt, isLoopback, loginSlip } from '#server/settings/addresses-in-settings.ts';

describe('an address in a setting', () => {
  it('is of this machine or of another one', () => {
    for (const host of [
      '',
      'localhost',
      'LOCALHOST',
      'mail.localhost',
      '127.0.0.1',
      '127.9.9.9',
      '[::1]',
      '::ffff:127.0.0.1',
    ]) {
      assert.equal(isLoopback(host), true, host);
    }
    for (const host of [
      '0.0.0.0',
      '10.0.0.1',
      'db',
      'localhost.example.com',
      '[2001:db8::1]',
      '::ffff:10.0.0.1',
    ]) {
      assert.equal(isLoopback(host), false, host);
    }
  });

  it('is cut in two by a password with a character that means something', () => {
    for (const [url, found] of [
      ['smtp://user:pa#ss@host:25', /"#".+written %23/],
      ['smtp://user:pa/ss@host', /"\/".+written %2F/],
      ['smtp://user:pa?ss@host', /"\?".+written %3F/],
      ['postgres://user:12/34@host/name', /"\/".+written %2F/],
      ['postgres://user:p@ss#word@host/name', /"#".+written %23/],
    ] as const) {
      assert.match(loginSlip(url) ?? '', found, url);
    }
    for (const url of [
      'file:./data/leads.db',
      'smtp://host',
      'smtp://user:pa%23ss@host:25/?pool=false',
      'smtp://me@example.com:pass@host',
      'postgres://host/name?user=me@example.com',
      'postgres://user:pass@host/name?application_name=me@example.com',
      'postgres:///name?host=/run/postgresql',
    ]) {
      assert.equal(loginSlip(url), null, url);
    }
  });

  it('may hold an "@" that is read as meant', () => {
    assert.equal(hasBareAt('smtp://me@example.com:pass@host'), true);
    assert.equal(hasBareAt('smtp://user:p@ss@host'), true);
    assert.equal(hasBareAt('smtp://me%40example.com:pass@host'), false);
    assert.equal(hasBareAt('smtp://user:pass@host/?x=a@b'), false);
  });
});
