import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { announcement, countdownText, secondsLeft } from '#web/verification/countdown.ts';

describe('the resend countdown', () => {
  it('begins with 60, shows each second, and ends at zero', () => {
    assert.equal(secondsLeft(60_000, 0), 60);
    assert.equal(secondsLeft(60_000, 1), 60);
    assert.equal(secondsLeft(60_000, 1000), 59);
    assert.equal(secondsLeft(60_000, 59_999), 1);
    assert.equal(secondsLeft(60_000, 60_000), 0);
    assert.equal(secondsLeft(60_000, 3_600_000), 0, 'a tab that slept');
    assert.equal(countdownText(60), 'Resend in 60 seconds');
  });

  it('is announced each half minute and at the end, not each second', () => {
    const said = new Set(Array.from({ length: 61 }, (_, seconds) => announcement(seconds)));
    assert.deepEqual(
      [...said],
      [
        'You can ask for a new code now.',
        'You can ask for a new code in 30 seconds.',
        'You can ask for a new code in 60 seconds.',
      ],
    );
  });
});
