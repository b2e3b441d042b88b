import assert from 'node:assert/strict';
import { it } from 'node:test';

import { restingBetween } from '#desk/server/handlers/throttle.ts';

it('an export pauses after each page that contains text, but not after an empty page', async () => {
  let now = 0;
  let worksMs = 10;
  async function* pages() {
    for (const text of ['heading', '', '', 'people', '', 'of a long search']) {
      now += worksMs;
      yield { text };
    }
  }
  const rests: number[] = [];
  const texts: string[] = [];
  const resting = restingBetween(pages(), { now: () => now, rest: async (ms) => void rests.push(ms) });
  for await (const text of resting) {
    texts.push(text);
    if (text === 'people') worksMs = 7_000;
    // Waiting for a slow reader does not count as work.
    now += 1_000;
  }
  assert.deepEqual(texts, ['heading', 'people', 'of a long search']);
  assert.deepEqual(rests, [90, 270, 5_000], 'nine times as long as was worked since the rest before');
});
