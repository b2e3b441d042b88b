import assert from 'node:assert/strict';
import { it } from 'node:test';

import { dateTime, dayName, shortTime } from '#desk/web/format.ts';

const BERLIN = 'Europe/Berlin';
const NOW = new Date('2026-11-23T06:30:00Z');

it("times in the desk are shown in the desk's time zone", () => {
  assert.equal(dateTime('2026-11-23T23:30:00Z', BERLIN), '24 Nov 2026, 00:30');
});

it('times in the desk are as short as possible without ambiguity', () => {
  assert.equal(shortTime('2026-11-22T23:30:00Z', BERLIN, NOW), '00:30');
  assert.equal(shortTime('2026-11-22T22:30:00Z', BERLIN, NOW), '22 Nov, 23:30');
  assert.equal(shortTime('2025-11-23T06:30:00Z', BERLIN, NOW), '23 Nov 2025');
});

it('a day in the desk has the same name in every time zone', () => {
  assert.equal(dayName('2026-11-01'), '1 Nov');
});
