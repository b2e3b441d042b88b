import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { drawChart } from '#desk/report/charts.ts';

describe('a chart', () => {
  it('has no style of its own, because a page with a strict policy shows it, and a name with markup stays text', () => {
    for (const chart of ['source', 'day'] as const) {
      const svg = drawChart(
        {
          chart,
          bars: [
            { name: 'x" style="color:red" <style>x</style>', value: 5, rest: 3, label: '5' },
            { name: 'direct', value: 2, rest: 0, label: '2' },
          ],
        },
        360,
      )!;
      assert.doesNotMatch(svg, / style="|<style/);
      assert.match(svg, /font-size="13"/);
      assert.match(svg, />x&quot; style=&quot;/);
    }
  });
});
