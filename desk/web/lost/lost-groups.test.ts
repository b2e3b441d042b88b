import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Lost } from '#desk/endpoints/people.ts';
import { chosenLost, lostGroups, readLostChoice } from '#desk/web/lost/lost-groups.ts';

const lost = (name: string, why: string, platform: string, source: string): Lost => ({
  id: name,
  askedAt: '2026-11-20T12:46:00.000Z',
  email: `${name}@example.com`,
  name,
  company: '',
  source,
  platform,
  reason: 'not-tried',
  why,
  reply: null,
  codes: 1,
  wrongTries: 0,
});

const PEOPLE = [
  lost('lena', 'Refused', 'Google', 'newsletter'),
  lost('tom', 'Never tried', 'Microsoft', 'newsletter'),
  lost('ana', 'Never tried', 'Microsoft', 'direct'),
  lost('piotr', 'Never tried', 'Google', 'direct'),
];

describe('groups of lost leads', () => {
  it('counts each reason of lost leads, most frequent first', () => {
    assert.deepEqual(lostGroups(PEOPLE, {}, 'why'), [
      { value: 'Never tried', people: 3 },
      { value: 'Refused', people: 1 },
    ]);
  });

  it('counts the lost leads that match all other filters, so the length of the list is known', () => {
    const choice = { why: 'Never tried', platform: 'Microsoft' };
    assert.deepEqual(lostGroups(PEOPLE, choice, 'platform'), [
      { value: 'Microsoft', people: 2 },
      { value: 'Google', people: 1 },
    ]);
    assert.deepEqual(lostGroups(PEOPLE, choice, 'source'), [
      { value: 'direct', people: 1 },
      { value: 'newsletter', people: 1 },
    ]);
  });

  it('groups of lost leads keep a selected value even if nobody has it', () => {
    assert.deepEqual(lostGroups(PEOPLE, { why: 'Mail is still queued', platform: 'Google' }, 'why').at(-1), {
      value: 'Mail is still queued',
      people: 0,
    });
  });

  it("filters lost leads by the page's URL", () => {
    const choice = readLostChoice(new URLSearchParams('why=Never+tried&source=direct&platform=&other=1'));
    assert.deepEqual(choice, { why: 'Never tried', source: 'direct' });
    assert.deepEqual(
      chosenLost(PEOPLE, choice).map(({ id }) => id),
      ['ana', 'piotr'],
    );
    assert.equal(chosenLost(PEOPLE, {}).length, 4);
  });
});
