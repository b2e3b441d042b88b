import assert from 'node:assert/strict';
import { it } from 'node:test';

import { readLostDays, spanOfDays, countFacet } from '#desk/web/lost/lost-choice.ts';

const NOW = Date.parse('2026-11-23T00:30:00Z');
const read = (query: string) => readLostDays(new URLSearchParams(query));

for (const [query, timeZone, from, to] of [
  ['', 'UTC', '2026-11-17', '2026-11-23'],
  ['days=yesterday', 'America/New_York', '2026-11-21', '2026-11-21'],
  ['days=7', 'America/New_York', '2026-11-16', '2026-11-22'],
  ['days=30', 'UTC', '2026-10-25', '2026-11-23'],
] as const)
  it(`"?${query}" lists the leads lost in ${timeZone} from ${from} to ${to}`, () =>
    assert.deepEqual(spanOfDays(read(query), NOW, timeZone), { from, to }));

it('the list of lost leads shows the default days if the URL is invalid', () => {
  for (const query of ['days=0', 'days=8', 'days=x']) assert.equal(read(query), '7', query);
});

const PEOPLE = [
  { why: 'Refused', platform: 'Google', source: 'newsletter' },
  { why: 'Never tried', platform: 'Microsoft', source: 'newsletter' },
  { why: 'Never tried', platform: 'Microsoft', source: 'direct' },
  { why: 'Never tried', platform: 'Google', source: 'direct' },
];

it('each group of lost leads counts those that match all other filters', () => {
  const choice = { why: 'Never tried', platform: 'Microsoft' };
  assert.deepEqual(countFacet(PEOPLE, choice, 'platform'), [
    { value: 'Microsoft', count: 2 },
    { value: 'Google', count: 1 },
  ]);
  assert.deepEqual(countFacet(PEOPLE, choice, 'source'), [
    { value: 'direct', count: 1 },
    { value: 'newsletter', count: 1 },
  ]);
});

it('a selected group of lost leads stays in the list even if it is empty', () => {
  assert.deepEqual(countFacet(PEOPLE, { why: 'E-mail is still queued', platform: 'Google' }, 'why').at(-1), {
    value: 'E-mail is still queued',
    count: 0,
  });
});
