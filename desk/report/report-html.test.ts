import assert from 'node:assert/strict';
import { it } from 'node:test';

import { reportBody, reportFile } from '#desk/report/report-html.ts';
import type { Report } from '#desk/report/report.ts';

const EVIL = 'x" style="color:red" <style>x</style>';
const TIMES = { name: '2d', from: '2026-11-19T00:00:00.000Z', to: '2026-11-20T18:00:00.000Z' };

const REPORT: Report = {
  title: 'A guide',
  writtenAt: '2026-11-20T18:00:00.000Z',
  timeZone: 'UTC',
  period: TIMES,
  before: { ...TIMES, name: 'the 2 days before', leads: 0, funnel: null, timeToEnter: null },
  leads: 40,
  funnel: [
    { step: 'seen', times: 1_000 },
    { step: 'opened', times: 200 },
    { step: 'asked', people: 100 },
    { step: 'entered', people: 50 },
  ],
  notEntered: [{ status: 'not-tried', people: 50 }],
  byDay: [
    { day: '2026-11-19', days: 1, seen: 500, asked: 60, entered: 30, leads: 30 },
    { day: '2026-11-20', days: 1, seen: 500, asked: 40, entered: 20, leads: 10 },
  ],
  bySource: [
    { name: 'newsletter', seen: 600, asked: 40, entered: 30, leads: 20 },
    { name: EVIL, seen: 400, asked: 60, entered: 20, leads: 20 },
  ],
  byPlatform: [],
  timeToEnter: null,
  codesFrom: null,
  mailFrom: null,
  viewsFrom: null,
};

const barOf = (html: string, row: string): number[] => {
  const [, bar = ''] =
    html.split(`<th scope="row">${row}</th>`)[1]?.split(/<tr class="report-bar"[^>]*>|<\/svg>/) ?? [];
  return [...bar.matchAll(/<rect[^>]* width="([\d.]+)%"/g)].map(([, width]) => Number(width));
};

it('the report shows views and people on separate scales', () => {
  const html = reportBody(REPORT);
  assert.deepEqual(
    ['Page seen', 'Form opened', 'Asked for a code', 'Entered the code'].map((step) => barOf(html, step)),
    [[100], [20], [100], [50]],
  );
});

it('the report shows new leads and people without a code on the scale of the longest bar', () => {
  const html = reportBody(REPORT);
  assert.deepEqual(barOf(html, 'newsletter'), [33.33, 16.67]);
});

for (const [what, row, viewsFrom, share, sentence] of [
  ['counted views', { seen: 340, leads: 12 }, null, '3.5%', ', which is 3.5% of its 340 views'],
  ['no views', { seen: 0, leads: 12 }, null, '–', ''],
  ['fewer views than leads', { seen: 11, leads: 12 }, null, '–', ''],
  ['views of a part of the period', { seen: 340, leads: 12 }, '2026-11-20T00:00:00.000Z', '–', ''],
] as const)
  it(`the report shows the leads of a source's views with ${what}`, () => {
    const bySource = [{ name: 'google-ads', asked: 15, entered: 12, ...row }];
    const html = reportBody({ ...REPORT, leads: 12, viewsFrom, bySource });
    assert.match(html, new RegExp(`<th scope="row">google-ads</th>.*<td>${share}</td></tr>`));
    assert.ok(html.includes(`12 of 12 new leads came from google-ads${sentence}.`), html);
  });

it('the report begins with the figures of its period', () => {
  const html = reportBody({
    ...REPORT,
    timeToEnter: { people: 50, p50Seconds: 0, p95Seconds: 9, groups: [] },
  });
  const figures = html.matchAll(/<dt>(.*?)<\/dt><dd class="report-value">(.*?)<\/dd>/g);
  assert.deepEqual(
    Array.from(figures, ([, ...pair]) => pair),
    [
      ['New leads', '40'],
      ['Views that became leads', '4.0%'],
      ['Asked for a code', '100'],
      ['Entered the code', '50%'],
      ['Median time from e-mail to code', '0&nbsp;s'],
    ],
  );
  assert.match(html, /Asked but entered no code/);
  assert.match(html, /<tr><th scope="row">newsletter<\/th><td>600<\/td><td>40<\/td>/);
});

it('the report has no inline style and shows markup in a source as text', () => {
  const html = reportBody(REPORT);
  assert.doesNotMatch(html, /<style|<[^>]* style=/);
  assert.match(html, /<th scope="row">x&quot; style=&quot;color:red&quot; &lt;style&gt;/);
});

it('the report divides new leads by views only if all views are known', () => {
  const otherSteps = REPORT.funnel!.filter(({ step }) => step !== 'seen');
  const seenTimes = (times: number): Partial<Report> => ({
    funnel: [{ step: 'seen', times }, ...otherSteps],
  });
  for (const [change, value, sentence] of [
    [{}, '4.0%', '40 new leads, 1,000 views.'],
    [seenTimes(40), '100.0%', '40 new leads, 40 views.'],
    [seenTimes(16), '–', 'Not all views are known.'],
    [seenTimes(0), '–', 'Not all views are known.'],
    [{ ...seenTimes(0), leads: 0 }, '–', '0 new leads, 0 views.'],
    [{ viewsFrom: '2026-11-20T00:00:00.000Z' }, '–', 'Not all views are known.'],
    [{ ...seenTimes(0), viewsFrom: '2026-11-20T00:00:00.000Z' }, '–', 'Not all views are known.'],
    [{ funnel: otherSteps }, '–', 'Not all views are known.'],
  ] as const) {
    const html = reportBody({ ...REPORT, ...change });
    assert.ok(html.includes(`<dd class="report-value">${value}</dd><dd>${sentence}`), html);
  }
});

it('the report uses the colours of the campaign', () => {
  const page = reportFile(REPORT, { light: '#102030', dark: '#a0b0c0' });
  assert.match(page, /--accent: #102030/);
  assert.match(page, /--accent: #a0b0c0/);
  assert.ok(page.includes(reportBody(REPORT)));
});
