import assert from 'node:assert/strict';
import { it } from 'node:test';

import { announcement, countdownText, secondsLeft } from '#web/verification/countdown.ts';

const WORDS = {
  language: 'en',
  resendIn: 'Resend in {seconds} seconds',
  canResendIn: 'You can ask for a new code in {seconds} seconds.',
  canResendNow: 'You can ask for a new code now.',
};

it('the resend countdown runs from 60 to 0, in the plural forms of the language', () => {
  assert.equal(secondsLeft(60_000, 0), 60);
  assert.equal(secondsLeft(60_000, 1), 60);
  assert.equal(secondsLeft(60_000, 1000), 59);
  assert.equal(secondsLeft(60_000, 59_999), 1);
  assert.equal(secondsLeft(60_000, 60_000), 0);
  assert.equal(secondsLeft(60_000, 3_600_000), 0, 'a tab that slept');
  assert.equal(countdownText(WORDS, 60), 'Resend in 60 seconds');
  const german = { one: 'Noch eine Sekunde', other: 'Noch {seconds} Sekunden' };
  const wordsOf = { ...WORDS, language: 'de', resendIn: german };
  assert.equal(countdownText(wordsOf, 1), 'Noch eine Sekunde');
});

it('announcement speaks every half minute and at the end', () => {
  const texts = Array.from({ length: 61 }, (_, elapsed) => announcement(WORDS, 60 - elapsed));
  assert.deepEqual(
    texts.filter((text, at) => text !== '' && text !== texts[at - 1]),
    [
      'You can ask for a new code in 60 seconds.',
      'You can ask for a new code in 30 seconds.',
      'You can ask for a new code now.',
    ],
  );
  assert.equal(texts[29], '');
  assert.equal(texts[59], '');
});
