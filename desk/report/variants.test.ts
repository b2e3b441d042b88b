import assert from 'node:assert/strict';

import { variantSentence } from '#desk/report/sentences.ts';
import { compareVariants } from '#desk/report/variants.ts';
import { addVariantCounts } from '#server/db/tables/counts.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { startOfDay } from '#shared/days.ts';
import { FIRST_SEEN } from '#shared/funnel.ts';
import { leadVerifiedAt } from '#testing/lead-row.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

/** Per variant, the first views and leads on each day from 1 to 9 November 2026. */
type Days = Readonly<Record<string, readonly (readonly [views: number, leads: number] | null)[]>>;

const EACH = [100, 4] as const;
const FIRST_DAY = Date.UTC(2026, 10, 1) / DAY_MS;

const CASES: readonly (readonly [
  title: string,
  shown: readonly string[],
  lastDay: number,
  days: Days,
  expected: string,
])[] = [
  [
    'counts a first comparison from its first day',
    ['a', 'b'],
    2,
    { a: [EACH, EACH], b: [EACH, EACH] },
    'a 200/8, b 200/8. So far a and b have brought the same number of leads (a 4.0%, b 4.0%). Counted since 1 November 2026.',
  ],
  [
    'does not count a new variant on the day of the change',
    ['a', 'c'],
    3,
    { a: [EACH, EACH, [137, 9]], b: [EACH, [100, 40], [113, 2]], c: [null, null, [24, 0]] },
    'a 0/0, c 0/0. The comparison begins on 4 November 2026, because visitors also saw other pages on the day before.',
  ],
  [
    'counts a new variant from the day after the change',
    ['a', 'c'],
    4,
    { a: [null, EACH, [137, 9], EACH], b: [null, null, [113, 2]], c: [null, null, [24, 0], EACH] },
    'a 100/4, c 100/4. So far a and c have brought the same number of leads (a 4.0%, c 4.0%). Counted since 4 November 2026.',
  ],
  [
    'goes on with two variants after a third is removed',
    ['a', 'b'],
    3,
    { a: [EACH, EACH, EACH], b: [EACH, EACH, EACH], c: [EACH, EACH] },
    'a 200/8, b 200/8. So far a and b have brought the same number of leads (a 4.0%, b 4.0%). Counted since 2 November 2026.',
  ],
  [
    'compares nothing before each variant was seen',
    ['a', 'c'],
    9,
    { a: [EACH], b: [EACH], c: [] },
    'a 0/0, c 0/0. There is nothing to compare yet, because a and c have not all been seen so far.',
  ],
  [
    'names the better variant once the difference is reliable',
    ['a', 'b'],
    2,
    { a: [EACH, EACH], b: [EACH, [100, 40]] },
    'a 200/8, b 200/44. b brings more leads than a (a 4.0%, b 22.0%), and the difference is reliable. Counted since 1 November 2026.',
  ],
];

onEachEngine('comparison of variants over time', ({ test, both }) => {
  for (const [at, [title, shown, lastDay, days, expected]] of CASES.entries()) {
    const add = at === 0 ? both : test;
    add(`the report ${title}`, async ({ database }) => {
      for (const [variant, figures] of Object.entries(days))
        for (const [index, figure] of figures.entries()) {
          if (figure === null) continue;
          const [count, leads] = figure;
          const day = FIRST_DAY + index;
          await addVariantCounts(database.db, [{ day, step: FIRST_SEEN, variant, count }]);
          const verifiedAt = startOfDay(day, 'UTC') + 1_000;
          for (let lead = 0; lead < leads; lead += 1)
            await database.db
              .insertInto('leads')
              .values({ ...leadVerifiedAt(`${variant}${day}-${lead}@example.com`, verifiedAt), variant })
              .execute();
        }
      const to = startOfDay(FIRST_DAY + lastDay, 'UTC');
      const comparison = await compareVariants(
        database.db,
        { to, timeZone: 'UTC' },
        shown.map((name) => ({ name, consentVersion: '' })),
        () => {},
      );
      const figures = comparison.variants.map(({ name, views, leads }) => `${name} ${views}/${leads}`);
      assert.equal(`${figures.join(', ')}. ${variantSentence(comparison, 'UTC')}`, expected);
    });
  }
});
