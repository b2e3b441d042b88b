import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { announcement, countdownText, secondsLeft } from '#web/verification/countdown.ts';

const WORDS = {
  language: 'en',
  resendIn: 'Resend in {seconds} seconds',
  canResendIn: 'You can ask for a new code in {seconds} seconds.',
  canResendNow: 'You can ask for a new code now.',
};

describe('resend countdown', () => {
  it('secondsLeft counts from 60 to 0', () => {
    assert.equal(secondsLeft(60_000, 0), 60);
    assert.equal(secondsLeft(60_000, 1), 60);
    assert.equal(secondsLeft(60_000, 1000), 59);
    assert.equal(secondsLeft(60_000, 59_999), 1);
    assert.equal(secondsLeft(60_000, 60_000), 0);
    assert.equal(secondsLeft(60_000, 3_600_000), 0, 'a tab that slept');
    assert.equal(countdownText(WORDS, 60), 'Resend in 60 seconds');
  });

  it('countdownText uses the plural forms of the language', () => {
    const german = {
      ...WORDS,
      language: 'de',
      resendIn: { one: 'Noch eine Sekunde', other: 'Noch {seconds} Sekunden' },
    };
    assert.equal(countdownText(german, 2), 'Noch 2 Sekunden');
    assert.equal(countdownText(german, 1), 'Noch eine Sekunde');
    assert.equal(countdownText(WORDS, 1), 'Resend in 1 seconds');
  });

  it('announcement speaks every half minute and at the end', () => {
    const said = Array.from({ length: 61 }, (_, elapsed) => announcement(WORDS, 60 - elapsed));
    assert.deepEqual(
      said.filter((text, at) => text !== '' && text !== said[at - 1]),
      [
        'You can ask for a new code in 60 seconds.',
        'You can ask for a new code in 30 seconds.',
        'You can ask for a new code now.',
      ],
    );
    assert.equal(said[29], '');
    assert.equal(said[59], '');
  });
});
