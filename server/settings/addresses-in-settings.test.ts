import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { bareAtWarnings, loginSlip } from '#server/settings/addresses-in-settings.ts';

describe('an address in a setting', () => {
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
    for (const [url, warnings] of [
      ['smtp://me@example.com:pass@host', 1],
      ['smtp://user:p@ss@host', 1],
      ['smtp://me%40example.com:pass@host', 0],
      ['smtp://user:pass@host/?x=a@b', 0],
    ] as const) {
      assert.equal(bareAtWarnings('SMTP_URL', url).length, warnings, url);
    }
  });
});
