import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { Person } from '#desk/endpoints/people.ts';
import { neighboursOf } from '#desk/web/leads/neighbours.ts';

const PEOPLE = ['ada', 'bob', 'eve'].map((id) => ({ id }) as Person);

describe('neighbours of a person in the list', () => {
  for (const [id, expected] of [
    ['ada', [undefined, 'bob']],
    ['bob', ['ada', 'eve']],
    ['eve', ['bob', undefined]],
    ['gus', undefined],
  ] as const)
    it(`the neighbours of ${id} are ${expected?.join(' and ') ?? 'unknown'}`, () => {
      const found = neighboursOf(PEOPLE, id);
      assert.deepEqual(found === null ? undefined : [found.previous?.id, found.next?.id], expected);
    });
});
