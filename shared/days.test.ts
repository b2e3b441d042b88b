import assert from 'node:assert/strict';
import { it } from 'node:test';

import {
  clockOffsets,
  dayAsText,
  dayOf,
  isTimeZone,
  momentAt,
  namedDays,
  readDay,
  startOfDay,
  type NamedDays,
} from '#shared/days.ts';
import { words } from '#testing/words.ts';

const HOUR_MS = 3_600_000;
const day = (text: string) => readDay(text)!;

for (const [zone, text, first, hours] of [
  ['Europe/Berlin', '2026-11-23', '2026-11-22T23:00', 24],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00', 23],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00', 25],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00', 25],
  ['Asia/Kolkata', '2026-11-23', '2026-11-22T18:30', 24],
  ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00', 24.5],
  // The clock skips midnight, so the day begins at 01:00.
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00', 23],
  // The clock returns from midnight to 23:00.
  ['America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00', 25],
  // The country skipped this day.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00', 0],
] as const)
  it(`${text} in ${zone} begins at ${first} UTC and lasts ${hours} hours`, () => {
    const start = startOfDay(day(text), zone);
    assert.equal(new Date(start).toISOString().slice(0, 16), first);
    assert.equal((startOfDay(day(text) + 1, zone) - start) / HOUR_MS, hours);
    if (hours === 0) return;
    assert.equal(dayAsText(dayOf(start, zone)), text);
    assert.equal(dayOf(start - 1, zone), dayOf(start, zone) - 1);
  });

it('momentAt maps a time that the clocks skip to the moment of the change', () => {
  const at = day('2026-03-29') * 24 * HOUR_MS + 2.5 * HOUR_MS;
  assert.equal(new Date(momentAt(at, 'Europe/Berlin')).toISOString(), '2026-03-29T01:00:00.000Z');
});

it('clockOffsets splits a span where the clocks change', () => {
  const split = (from: string, to: string, zone: string) =>
    clockOffsets(Date.parse(from), Date.parse(to), zone).map(
      ({ until, offsetMs }) => `${new Date(until).toISOString().slice(0, 16)} ${offsetMs / HOUR_MS}`,
    );
  assert.deepEqual(split('2026-01-01', '2026-12-01', 'Europe/Berlin'), [
    '2026-03-29T01:00 1',
    '2026-10-25T01:00 2',
    '2026-12-01T00:00 1',
  ]);
  assert.deepEqual(split('2026-03-29', '2026-03-29T00:00:01Z', 'America/New_York'), ['2026-03-29T00:00 -4']);
  assert.deepEqual(split('2026-01-01', '2026-12-01', 'UTC'), ['2026-12-01T00:00 0']);
});

for (const [name, first, last] of [
  ['today', '2026-11-23', '2026-11-23'],
  ['yesterday', '2026-11-22', '2026-11-22'],
  ['this-week', '2026-11-23', '2026-11-29'],
  ['last-week', '2026-11-16', '2026-11-22'],
] as const satisfies readonly (readonly [NamedDays, string, string])[])
  it(`on a Monday, ${name} is ${first} to ${last}`, () => {
    const days = namedDays(name, day('2026-11-23'));
    assert.deepEqual([dayAsText(days.first), dayAsText(days.last)], [first, last]);
    if (name.endsWith('week')) assert.deepEqual(namedDays(name, day('2026-11-29')), days);
  });

it('isTimeZone and readDay accept only existing time zones and days', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kolkata']) assert(isTimeZone(name), name);
  for (const name of ['', 'Berlin', '+01:00']) assert(!isTimeZone(name), name);
  for (const text of words(`
    2026-02-31 2026-1-1 today 2026-11-23T00:00:00Z 0001-01-01 1969-12-31 9999-12-31`))
    assert.equal(readDay(text), null, text);
});
