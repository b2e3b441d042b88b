import assert from 'node:assert/strict';
import { it } from 'node:test';

import { offeredPeriods, readReportChoice, reportFileUrl } from '#desk/web/report/report-choice.ts';

const NOW = Date.parse('2026-01-31T23:59:00Z');
const read = (query: string) => readReportChoice(new URLSearchParams(query));

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

it("the URL of the report's file names the default period", () => {
  assert.equal(reportFileUrl(read('')), '/api/report.html?period=30d');
  assert.equal(reportFileUrl(read('source=a%26b')), '/api/report.html?period=30d&source=a%26b');
});

it('the report offers the last twelve months, newest first', () => {
  const offered = offeredPeriods(NOW, 'UTC', '30d');
  assert.match(
    offered.map(({ value }) => value).join(' '),
    /^today yesterday this-week last-week 7d 30d 90d 52w 2026-01 2025-12 2025-11 (\S+ ){8}2025-02$/,
  );
  assert.equal(offered[5]?.name, 'Last 30 days');
  assert.equal(offered[9]?.name, 'December 2025');
  assert.equal(offeredPeriods(NOW, 'Europe/Berlin', '30d')[8]?.value, '2026-02');
});
