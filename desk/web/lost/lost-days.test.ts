import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { lostDaysQuery, readLostDays, spanOfDays } from '#desk/web/lost/lost-days.ts';

const NOW = Date.parse('2026-11-23T00:30:00Z');
const read = (query: string) => readLostDays(new URLSearchParams(query));

describe('the days of lost leads', () => {
  it('the list of lost leads defaults to the last seven days, today included', () => {
    assert.deepEqual(spanOfDays(read(''), NOW), { from: '2026-11-17', to: '2026-11-23' });
    assert.deepEqual(spanOfDays(read('days=1'), NOW), { from: '2026-11-23', to: '2026-11-23' });
    assert.deepEqual(spanOfDays(read('days=30'), NOW), { from: '2026-10-25', to: '2026-11-23' });
    assert.deepEqual(spanOfDays(read('from=2026-11-01&to=2026-11-08'), NOW), {
      from: '2026-11-01',
      to: '2026-11-08',
    });
  });

  it('swaps reversed days of lost leads', () => {
    assert.deepEqual(spanOfDays(read('from=2026-11-08&to=2026-11-01'), NOW), {
      from: '2026-11-01',
      to: '2026-11-08',
    });
  });

  it('the days of lost leads fall back to the default for an invalid URL', () => {
    for (const query of [
      'days=0',
      'days=-3',
      'days=1.5',
      'days=x',
      'days=99999',
      'from=2026-02-31&to=2026-03-01',
      'from=2026-11-01',
    ])
      assert.deepEqual(read(query), { type: 'last', days: 7 }, query);
  });

  it('reads the days of lost leads from the URL they make', () => {
    for (const query of ['', 'days=30', 'from=2026-11-01&to=2026-11-08'])
      assert.equal(String(new URLSearchParams(lostDaysQuery(read(query)))), query);
  });
});
