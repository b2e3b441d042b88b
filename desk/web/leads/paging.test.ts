import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { PeoplePage, Person } from '#desk/endpoints/people.ts';
import { needsNextPage, mergePages, PAGE_STEP } from '#desk/web/leads/paging.ts';

const person = (id: string) => ({ id }) as Person;
const page = (ids: readonly string[], next: string | null): PeoplePage => ({
  people: ids.map(person),
  next,
  searchedBackTo: next === null ? null : `2026-11-2${next}T00:00:00.000Z`,
});
const ids = (pages: readonly PeoplePage[]) => mergePages(pages).people.map(({ id }) => id);

it('a paged list keeps loading while its pages are short and more follow', () => {
  const pages = [page([], '3')];
  assert.equal(needsNextPage(mergePages(pages), PAGE_STEP), true);
  assert.equal(mergePages(pages).searchedBackTo, '2026-11-23T00:00:00.000Z');
  pages.push(page(['a', 'b'], '2'));
  assert.equal(needsNextPage(mergePages(pages), PAGE_STEP), true);
  assert.equal(needsNextPage(mergePages(pages), 2), false);
  pages.push(page([], null));
  assert.equal(needsNextPage(mergePages(pages), PAGE_STEP), false);
  assert.deepEqual(mergePages(pages), {
    people: ['a', 'b'].map(person),
    hasMore: false,
    searchedBackTo: null,
  });
});

it('a paged list shows each person once', () => {
  assert.deepEqual(ids([page(['a', 'b'], '2'), page(['b', 'c'], null)]), ['a', 'b', 'c']);
});
