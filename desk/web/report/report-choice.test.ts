import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  offeredPeriods,
  readReportChoice,
  reportFileUrl,
  reportQuery,
} from '#desk/web/report/report-choice.ts';

const NOW = Date.parse('2026-01-31T23:59:00Z');
const read = (query: string) => readReportChoice(new URLSearchParams(query));

describe('options of the report', () => {
  it('the report defaults to the last 30 days and to all sources', () => {
    assert.deepEqual(read(''), { period: '30d' });
    assert.deepEqual(read('period=&source=&campaign=+'), { period: '30d' });
    assert.deepEqual(read('period=2026-01&source=news%26more&campaign=spring&variant=short'), {
      period: '2026-01',
      source: 'news&more',
      campaign: 'spring',
      variant: 'short',
    });
  });

  it('the options of the report are read back from the URL', () => {
    for (const query of ['', 'period=4w', 'period=2026-01&source=news%26more&campaign=spring&variant=short'])
      assert.equal(String(new URLSearchParams(reportQuery(read(query)))), query);
  });

  it("the URL of the report's file names the default period", () => {
    assert.equal(reportFileUrl(read('')), '/api/report.html?period=30d');
    assert.equal(reportFileUrl(read('source=a%26b')), '/api/report.html?period=30d&source=a%26b');
  });

  it('the report offers the last twelve months, newest first', () => {
    const offered = offeredPeriods(NOW, 'UTC', '30d');
    assert.deepEqual(
      offered.filter(({ period }) => /^\d{4}-/.test(period)).map(({ period }) => period),
      `2026-01 2025-12 2025-11 2025-10 2025-09 2025-08 2025-07 2025-06 2025-05 2025-04 2025-03 2025-02`.split(
        ' ',
      ),
    );
    assert.deepEqual(offered.slice(0, 6), [
      { period: 'today', label: 'Today' },
      { period: 'yesterday', label: 'Yesterday' },
      { period: 'this-week', label: 'This week' },
      { period: 'last-week', label: 'Last week' },
      { period: '7d', label: 'Last 7 days' },
      { period: '30d', label: 'Last 30 days' },
    ]);
    assert.equal(
      offeredPeriods(Date.parse('2026-01-31T23:30:00Z'), 'Europe/Berlin', '30d')[8]?.period,
      '2026-02',
    );
    assert.equal(offered.find(({ period }) => period === '2025-12')?.label, 'December 2025');
  });

  it('the report also offers a period typed into the URL', () => {
    assert.deepEqual(offeredPeriods(NOW, 'UTC', '3w')[0], { period: '3w', label: '3w' });
  });
});
