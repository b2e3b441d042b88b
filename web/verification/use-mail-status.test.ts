import assert from 'node:assert/strict';
import { it } from 'node:test';

import { nextPollAt } from '#web/verification/use-mail-status.ts';

const CODE_AT = 1_000_000;

it('nextPollAt returns six polling times in three minutes and skips those missed by a hidden page', () => {
  const polls: number[] = [];
  for (let next = nextPollAt(CODE_AT, CODE_AT); next !== null; next = nextPollAt(CODE_AT, next))
    polls.push((next - CODE_AT) / 1000);
  assert.deepEqual(polls, [3, 8, 20, 45, 90, 180]);
  assert.equal(nextPollAt(CODE_AT, CODE_AT + 30_000), CODE_AT + 45_000);
  assert.equal(nextPollAt(CODE_AT, CODE_AT + 600_000), null);
});
