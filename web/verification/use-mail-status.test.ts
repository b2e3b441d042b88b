import assert from 'node:assert/strict';
import { it } from 'node:test';

import { nextAskAt } from '#web/verification/use-mail-status.ts';

const CODE_AT = 1_000_000;

it('nextAskAt returns six polling times in three minutes and skips those missed by a hidden page', () => {
  const asks: number[] = [];
  for (let next = nextAskAt(CODE_AT, CODE_AT); next !== null; next = nextAskAt(CODE_AT, next))
    asks.push((next - CODE_AT) / 1000);
  assert.deepEqual(asks, [3, 8, 20, 45, 90, 180]);
  assert.equal(nextAskAt(CODE_AT, CODE_AT + 30_000), CODE_AT + 45_000);
  assert.equal(nextAskAt(CODE_AT, CODE_AT + 600_000), null);
});
