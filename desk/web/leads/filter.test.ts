import assert from 'node:assert/strict';
import { it } from 'node:test';

import { countFilters, filterIn, leadsUrl, withFilter } from '#desk/web/leads/filter.ts';

const read = (query: string) => filterIn(new URLSearchParams(query));

it('a desk filter is read from the URL as it was written', () => {
  const filter = {
    state: 'unverified',
    search: 'müller & co',
    source: 'news letter',
    campaign: 'spring & summer',
    flag: 'free-mail',
    news: 'yes',
    field: 'team-size',
    answer: '10+',
    domain: 'example.com',
    from: '2026-11-01',
    to: '2026-11-23',
  } as const;
  assert.deepEqual(read(leadsUrl(filter).replace('/leads?', '')), filter);
});

it('invalid desk filters are removed from the URL', () => {
  assert.deepEqual(read('state=nonsense&from=yesterday&search=%20%20&colour=red'), { state: 'verified' });
  assert.deepEqual(read(`search=${'x'.repeat(201)}`), { state: 'verified' });
  assert.deepEqual(read('answer=10'), { state: 'verified' });
  assert.deepEqual(read('from=2026-13-45&to=2026-02-31'), { state: 'verified' });
});

it('changing one desk filter keeps the others', () => {
  const filter = withFilter({ state: 'verified' }, 'source', 'newsletter');
  assert.deepEqual(filter, { state: 'verified', source: 'newsletter' });
  assert.equal(countFilters(filter), 1);
  assert.deepEqual(withFilter(filter, 'source', ''), { state: 'verified' });
  const answered = { state: 'verified', field: 'team-size', answer: '10' } as const;
  assert.deepEqual(withFilter(answered, 'field', ''), { state: 'verified' });
  assert.deepEqual(withFilter(filter, 'state', ''), filter);
});
