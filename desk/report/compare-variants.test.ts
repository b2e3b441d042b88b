import assert from 'node:assert/strict';
import { it } from 'node:test';

import { compareTwo, shareOf, type VariantFigures } from '#desk/report/compare-variants.ts';
import { createRandom } from '#testing/random.ts';

const LOOKS = 200;

function run(
  rates: readonly [number, number],
  { views, random, onAlarm = () => {} }: { views: number; random: () => number; onAlarm?: () => void },
): { readonly better: string; readonly views: number } | null {
  const figures = [
    { name: 'a', views: 0, leads: 0 },
    { name: 'b', views: 0, leads: 0 },
  ] satisfies { -readonly [Name in keyof VariantFigures]: VariantFigures[Name] }[];
  const [a, b] = figures as [(typeof figures)[number], (typeof figures)[number]];
  for (let seen = 1; seen <= views; seen += 1) {
    const at = random() < 0.5 ? 0 : 1;
    const given = at === 0 ? a : b;
    given.views += 1;
    if (random() < rates[at]) given.leads += 1;
    if (seen % (views / LOOKS) !== 0) continue;
    const verdict = compareTwo(a, b);
    if (verdict.type === 'uneven') {
      onAlarm();
      return null;
    }
    if (verdict.type === 'differ') return { better: verdict.better, views: seen };
  }
  return null;
}

const several = <Result>(times: number, one: () => Result): Result[] => Array.from({ length: times }, one);

it('equal variants produce a winner in less than 5 % of runs despite 200 checks', () => {
  const random = createRandom(20_261_123);
  let alarms = 0;
  const onAlarm = () => (alarms += 1);
  for (const rate of [0.04, 0.3]) {
    const winners = several(500, () => run([rate, rate], { views: 10_000, random, onAlarm })).filter(
      (found) => found !== null,
    );
    assert.ok(winners.length < 25, `${winners.length} of 500 at ${rate}`);
  }
  // The tolerated rate is one false alarm in a thousand.
  assert.ok(alarms <= 4, `${alarms} of 1000`);
});

it('a variant with a rate of 5 % wins against one with 3 %, never the reverse', () => {
  const random = createRandom(7);
  const found = several(200, () => run([0.03, 0.05], { views: 20_000, random }));
  assert.ok(found.filter((one) => one !== null).length >= 196, `${found.filter(Boolean).length} of 200`);
  assert.deepEqual([...new Set(found.flatMap((one) => one?.better ?? []))], ['b']);
  const median = found
    .map((one) => one?.views ?? Infinity)
    .toSorted((one, other) => one - other)
    .at(100)!;
  assert.ok(median < 6_000, `half after ${median} views`);
});

it('a comparison of variants estimates how many more views it needs', () => {
  const now = compareTwo({ name: 'a', views: 1_000, leads: 30 }, { name: 'b', views: 1_000, leads: 45 });
  assert.ok(now.type === 'open' && now.leading === 'b' && now.moreViews !== null);
  const times = 1 + now.moreViews / 2_000;
  const typeAfter = (factor: number) =>
    compareTwo(
      { name: 'a', views: 1_000 * factor, leads: 30 * factor },
      { name: 'b', views: 1_000 * factor, leads: 45 * factor },
    ).type;
  assert.equal(typeAfter(times * 1.01), 'differ');
  assert.equal(typeAfter(times * 0.98), 'open');
});

it('a comparison of variants requires more evidence the more pairs are compared', () => {
  const figures = [
    { name: 'a', views: 2_000, leads: 40 },
    { name: 'b', views: 2_000, leads: 80 },
  ] as const;
  assert.equal(compareTwo(...figures).type, 'differ');
  assert.equal(compareTwo(...figures, 1_000).type, 'open');
  const nothing = { views: 10, leads: 0 };
  assert.deepEqual(compareTwo({ name: 'a', ...nothing }, { name: 'b', ...nothing }), { type: 'nothing yet' });
});

it('variants are not compared if visitors are distributed unevenly', () => {
  assert.deepEqual(compareTwo({ name: 'a', views: 2_000, leads: 90 }, { name: 'b', views: 800, leads: 20 }), {
    type: 'uneven',
  });
});

it("the confidence interval of a share is Wilson's", () => {
  // Expected values computed in R: prop.test(15, 148, correct = FALSE).
  const found = shareOf({ views: 148, leads: 15 });
  assert.deepEqual(
    [found?.low, found?.high].map((value) => value?.toFixed(4)),
    ['0.0624', '0.1605'],
  );
  assert.equal(shareOf({ views: 0, leads: 0 }), null);
  assert.equal(shareOf({ views: 50, leads: 0 })?.low, 0);
});
