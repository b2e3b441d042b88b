import assert from 'node:assert/strict';
import { it } from 'node:test';

import { timeNow } from '#shared/clock.ts';

it("timeNow keeps advancing when the device's clock is set back", ({ mock }) => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 1_000 });
  const before = timeNow();
  mock.timers.setTime(Date.now() - 3_600_000 + 1_000);
  assert.equal(timeNow(), before, 'no tick tells how long ago it was set');
  mock.timers.tick(5_000);
  assert.equal(timeNow() - before, 5_000);
});
