import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';

import { asciiAddress, LeadForm, normaliseEmail, Verification } from '#shared/lead.ts';
import { isSingleLine } from '#shared/typed-input.ts';
import { words } from '#testing/words.ts';
import { valuesOf } from '#testing/values-of.ts';

it('LeadForm and Verification return only the fields of the specification', () => {
  const lead = { name: 'Ada', company: 'Engines', email: 'ada@example.com', consent: true };
  assert.deepEqual(LeadForm.parse({ ...lead, website: 'x', isAdmin: true }), lead);
  assert.deepEqual(Verification.parse({ email: 'ada@example.com', code: '012345', extra: 1 }), {
    email: 'ada@example.com',
    code: '012345',
  });
});

it('LeadForm accepts only clean text of a single line', () => {
  const anything = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.anything());
  fc.assert(
    fc.property(anything, anything, anything, anything, (name, company, email, consent) => {
      const result = LeadForm.safeParse({ name, company, email, consent });
      if (!result.success) return;
      for (const text of [result.data.name, result.data.company, result.data.email]) {
        assert.ok(isSingleLine(text) && text.trim() === text && text.length >= 2);
      }
      assert.equal(result.data.consent, true);
    }),
    { numRuns: 2000 },
  );
});

it('LeadForm accepts every common e-mail address and compares it without case', () => {
  fc.assert(
    fc.property(fc.emailAddress(), (address) => {
      const result = Verification.safeParse({ email: ` ${address} `, code: '123456' });
      // The generator also produces addresses that no mail server accepts, such as !#$%@a.aa.
      if (/^[A-Za-z0-9._+-]+@/.test(address) && !/\.\.|^\.|\.@/.test(address))
        assert.ok(result.success, address);
      assert.equal(normaliseEmail(address.toUpperCase()), normaliseEmail(` ${address}`));
    }),
  );
});

it('LeadForm limits e-mail addresses to 64 octets before the @ and 63 per label', () => {
  for (const [email, isTaken] of [
    [`${'a'.repeat(64)}@example.com`, true],
    [`${'a'.repeat(65)}@example.com`, false],
    [`ada@${'a'.repeat(63)}.com`, true],
    [`ada@${'a'.repeat(64)}.com`, false],
    [`ada@${'abcdefg.'.repeat(32)}com`, false],
  ] as const) {
    const lead = LeadForm.safeParse({ name: 'Ada', company: 'Engines', email, consent: true });
    assert.equal(lead.success, isTaken, email);
    assert.equal(Verification.safeParse({ email, code: '123456' }).success, isTaken, email);
  }
});

const parsed = (email: string) => Verification.safeParse({ email, code: '123456' });

it('LeadForm accepts international domains as typed, in any script', () => {
  for (const email of words(
    `info@münchen.de INFO@MÜNCHEN.DE info@xn--mnchen-3ya.de ada@例え.テスト ada@例え。jp ada@مثال.إختبار ada@דוגמה.co.il ada@пример.рф ada@xn--e1afmkfd.xn--p1ai ada@mail.straße.example`,
  )) {
    const result = parsed(`  ${email} `);
    assert.ok(result.success, email);
    assert.equal(result.data.email, email);
  }
});

it('LeadForm refuses undeliverable e-mail addresses with one error', () => {
  for (const email of [
    '',
    'ada',
    'ada@example',
    'a b@example.com',
    'ada@example.com\r\nBcc: x@example.com',
    'a\ud800@example.com',
    '"ada"@example.com',
    'jürgen@münchen.de',
    'info@mün\u0000chen.de',
    'info@mün\u202Echen.de',
    'info@mün%63hen.de',
    'info@münchen@münchen.de',
    'info@münchen..de',
    'info@münchen-.de',
    'info@münchen',
    'info@mün♥chen.de',
    'info@١٢٧.٠.٠.١',
    'info@0x7f.1',
    'info@a\u05D01\u0661.com',
    'info@xn--.de',
    `info@${'münchen.'.repeat(20)}de`,
  ]) {
    const result = parsed(email);
    assert.equal(result.success, false, email);
    assert.deepEqual(valuesOf(result.error.issues, 'message'), ['email'], email);
  }
});

it('normaliseEmail converts international domains to ASCII', () => {
  assert.equal(asciiAddress('Info@MÜNCHEN.de'), 'Info@xn--mnchen-3ya.de');
  assert.equal(asciiAddress('Ada@Example.COM'), 'Ada@example.com');
  assert.equal(asciiAddress('ada@münchen'), null);
  assert.equal(normaliseEmail(' Info@MÜNCHEN.de '), 'info@xn--mnchen-3ya.de');
  assert.equal(normaliseEmail('info@XN--MNCHEN-3YA.de'), 'info@xn--mnchen-3ya.de');
  assert.equal(normaliseEmail('info@mu\u0308nchen。ＤＥ'), 'info@xn--mnchen-3ya.de');
  assert.equal(normaliseEmail('No Address'), 'no address');
});

it('LeadForm refuses domains without an ASCII form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (host) => {
      for (const email of [`ada@${host}.de`, `ada@m${host}n.de`]) {
        const result = parsed(email);
        if (!result.success) continue;
        const mailed = asciiAddress(result.data.email) ?? '';
        assert.match(mailed, /^ada@[a-z0-9.-]+$/);
        assert.equal(normaliseEmail(mailed), normaliseEmail(email));
      }
    }),
    { numRuns: 3000 },
  );
});

it('LeadForm strips invisible characters from a name and refuses an invisible name', () => {
  const made = (name: string) => {
    const result = LeadForm.safeParse({
      name,
      company: 'Engines',
      email: 'ada@example.com',
      consent: true,
    });
    return result.success ? result.data.name : result.error.issues[0]?.message;
  };
  const cases: readonly (readonly [typed: string, made: string])[] = [
    ['\u202AAda Lovelace\u202C', 'Ada Lovelace'],
    ['\u2068Ada Lovelace\u2069', 'Ada Lovelace'],
    ['Ada\tLovelace', 'Ada Lovelace'],
    ['Ada\u000BLovelace', 'Ada Lovelace'],
    ['علی\u200Cرضا', 'علی\u200Cرضا'],
    ['李小', '李小'],
    ['\u200B\u200B', 'nameTooShort'],
    ['\u3164\u3164', 'nameTooShort'],
    ['A\u200D\uFE0F', 'nameTooShort'],
    ['Ada\u202Eecalevol', 'nameNotOneLine'],
    ['Ada\nLovelace', 'nameNotOneLine'],
  ];
  for (const [typed, name] of cases) assert.equal(made(typed), name, JSON.stringify(typed));
});

it('LeadForm refuses long text of any kind quickly', () => {
  for (const email of [
    `${'a'.repeat(100_000)}@${'a.'.repeat(50_000)}`,
    `${'a'.repeat(5_000)}@`,
    `mailto:${'?'.repeat(500_000)}`,
    `a@${'a-'.repeat(2_500)}`,
    `${' '.repeat(5_000)}a@example.com${' '.repeat(5_000)}x`,
  ])
    for (const name of ['x'.repeat(100_000), ' '.repeat(5_000), `${' a'.repeat(2_500)}\n`])
      assert.equal(LeadForm.safeParse({ name, company: name, email, consent: true }).success, false);
});
