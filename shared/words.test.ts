import assert from 'node:assert/strict';
import { it } from 'node:test';

import { Interface } from '#shared/campaign-schema.ts';
import { fill, languageAttributes, pluralForm } from '#shared/words.ts';

it('fill replaces each {place} once and leaves the inserted text unchanged', () => {
  assert.equal(fill('Digit {number} of {digits}', { number: 1, digits: 6 }), 'Digit 1 of 6');
  assert.equal(fill('To {email} and {other}', { email: '{other}' }), 'To {other} and {other}');
});

it('languageAttributes sets the direction of the language', () => {
  for (const language of ['ar', 'he', 'fa', 'ur', 'ar-EG', 'az-Arab', 'yi', 'ckb', 'ug', 'dv'])
    assert.equal(languageAttributes(language), `lang="${language}" dir="rtl"`);
  for (const language of ['en', 'de', 'pt-BR', 'az', 'tr', 'ja', 'he-Latn'])
    assert.equal(languageAttributes(language), `lang="${language}"`);
});

it('pluralForm follows the plural rules of the language', () => {
  const german = { one: 'Noch {n} Sekunde', other: 'Noch {n} Sekunden' };
  assert.equal(pluralForm(german, 1, 'de'), german.one);
  assert.equal(pluralForm(german, 2, 'de'), german.other);
  const polish = { one: 'sekunda', few: 'sekundy', many: 'sekund', other: 'sekundy' };
  assert.deepEqual(
    [1, 3, 5, 22].map((count) => pluralForm(polish, count, 'pl')),
    ['sekunda', 'sekundy', 'sekund', 'sekundy'],
  );
  assert.equal(pluralForm({ other: 'always' }, 1, 'en'), 'always');
  assert.equal(pluralForm('Resend in {seconds} seconds', 1, 'en'), 'Resend in {seconds} seconds');
});

const errorsIn = (section: 'form' | 'verification', words: Record<string, unknown>) =>
  Interface.shape[section]
    .safeParse(words)
    .error?.issues.filter(({ path }) => String(path[0]) in words)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);

it('Interface accepts plural forms and requires the number only in "other"', () => {
  assert.deepEqual(
    errorsIn('verification', { resendIn: { one: 'In a second', other: 'In {seconds} seconds' } }),
    [],
  );
  assert.deepEqual(errorsIn('verification', { resendIn: { one: 'In a second', other: 'Later' } }), [
    'resendIn.other: must contain {seconds}',
  ]);
  assert.deepEqual(errorsIn('verification', { resendIn: { one: 'In {second}', other: 'In {seconds}' } }), [
    'resendIn.one: there is no {second}. Use one of {seconds}',
  ]);
  for (const unusable of [5, { one: 'In a second' }]) {
    assert.deepEqual(errorsIn('verification', { resendIn: unusable }), [
      'resendIn: must be text, or one text for each plural form, including "other"',
    ]);
  }
});
