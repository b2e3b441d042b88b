import assert from 'node:assert/strict';
import { it } from 'node:test';

import { readPeriod } from '#desk/report/period.ts';

const NOW = Date.UTC(2026, 10, 21, 18, 30);

const read = (text: string, now = NOW, timeZone = 'UTC') => {
  const period = readPeriod(text, now, timeZone);
  if (period === null) return null;
  const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);
  const { from, to, before, beforeName } = period;
  return [iso(from), iso(to), iso(before.from), iso(before.to), beforeName].join(' | ');
};

it('a report period in days or weeks ends now and is compared with the previous period', () => {
  assert.equal(
    read('7d'),
    '2026-11-15T00:00 | 2026-11-21T18:30 | 2026-11-08T00:00 | 2026-11-14T18:30 | the 7 days before',
  );
  assert.equal(read('1w'), read('7d'));
  assert.equal(
    read('1d'),
    '2026-11-21T00:00 | 2026-11-21T18:30 | 2026-11-20T00:00 | 2026-11-20T18:30 | the same part of the day before',
  );
});

it('a report period of a month covers the whole month or ends now', () => {
  assert.equal(
    read('2026-10'),
    '2026-10-01T00:00 | 2026-11-01T00:00 | 2026-09-01T00:00 | 2026-10-01T00:00 | the month before',
  );
  assert.equal(
    read('2026-11'),
    '2026-11-01T00:00 | 2026-11-21T18:30 | 2026-10-01T00:00 | 2026-10-21T18:30 | the same part of the month before',
  );
  assert.equal(
    read('2026-03', Date.UTC(2026, 2, 31, 12)),
    '2026-03-01T00:00 | 2026-03-31T12:00 | 2026-02-01T00:00 | 2026-03-01T00:00 | the month before',
  );
  assert.match(read('2026-01') ?? '', /2025-12-01T00:00 \| 2026-01-01T00:00/);
});

it('an unfinished report period states that it is compared with part of the previous period', () => {
  const namesOf = (text: string) => read(text)?.split(' | ').at(-1);
  assert.equal(namesOf('today'), 'the same part of the day before');
  assert.equal(namesOf('this-week'), 'the same part of the week before');
  assert.equal(namesOf('last-week'), 'the week before');
});

for (const [zone, text, now, expected] of [
  ['UTC', 'today', NOW, '2026-11-21T00:00 | 2026-11-21T18:30 | 2026-11-20T00:00 | 2026-11-20T18:30'],
  ['UTC', 'yesterday', NOW, '2026-11-20T00:00 | 2026-11-21T00:00 | 2026-11-19T00:00 | 2026-11-20T00:00'],
  ['UTC', 'this-week', NOW, '2026-11-16T00:00 | 2026-11-21T18:30 | 2026-11-09T00:00 | 2026-11-14T18:30'],
  ['UTC', 'last-week', NOW, '2026-11-09T00:00 | 2026-11-16T00:00 | 2026-11-02T00:00 | 2026-11-09T00:00'],
  // In Auckland, it is already Sunday.
  [
    'Pacific/Auckland',
    'yesterday',
    NOW,
    '2026-11-20T11:00 | 2026-11-21T11:00 | 2026-11-19T11:00 | 2026-11-20T11:00',
  ],
  // The clocks changed on Sunday, 25 October, at 01:00 UTC.
  [
    'Europe/Berlin',
    'yesterday',
    Date.UTC(2026, 9, 26, 12),
    '2026-10-24T22:00 | 2026-10-25T23:00 | 2026-10-23T22:00 | 2026-10-24T22:00',
  ],
  [
    'Europe/Berlin',
    'today',
    Date.UTC(2026, 9, 25, 11),
    '2026-10-24T22:00 | 2026-10-25T11:00 | 2026-10-23T22:00 | 2026-10-24T10:00',
  ],
  [
    'Europe/Berlin',
    '7d',
    Date.UTC(2026, 9, 28, 11),
    '2026-10-21T22:00 | 2026-10-28T11:00 | 2026-10-14T22:00 | 2026-10-21T10:00',
  ],
  [
    'Europe/Berlin',
    '2026-10',
    NOW,
    '2026-09-30T22:00 | 2026-10-31T23:00 | 2026-08-31T22:00 | 2026-09-30T22:00',
  ],
] as const)
  it(`the report period ${text} follows the days in ${zone}`, () => {
    assert.equal(read(text, now, zone)?.split(' | ').slice(0, 4).join(' | '), expected);
  });

it('a report period that is invalid or in the future is rejected', () => {
  for (const text of ['', '30', 'd', '0d', '-3d', '9999d', '2h', '2026', '2026-13', '2026-00', '2026-12'])
    assert.equal(read(text), null, text);
});
