import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import fc from 'fast-check';

import { Lead, normaliseEmail, Verification } from '#shared/lead.ts';
import { isSingleLine } from '#shared/text.ts';

describe('the schemas', () => {
  it('hand on exactly the fields of the specification, whatever else comes along', () => {
    const lead = { name: 'Ada', company: 'Engines', email: 'ada@example.com', consent: true };
    assert.deepEqual(Lead.parse({ ...lead, website: 'x', isAdmin: true }), lead);
    assert.deepEqual(Verification.parse({ email: 'ada@example.com', code: '012345', extra: 1 }), {
      email: 'ada@example.com',
      code: '012345',
    });
  });

  it('take only what is one clean line, whatever is thrown at them', () => {
    const anything = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.anything());
    fc.assert(
      fc.property(anything, anything, anything, anything, (name, company, email, consent) => {
        const result = Lead.safeParse({ name, company, email, consent });
        if (!result.success) return;
        for (const text of [result.data.name, result.data.company, result.data.email]) {
          assert.ok(isSingleLine(text) && text.trim() === text && text.length >= 2);
        }
        assert.equal(result.data.consent, true);
      }),
      { numRuns: 2000 },
    );
  });

  it('take every ordinary address, and compare it without case', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (address) => {
        const result = Verification.safeParse({ email: ` ${address} `, code: '123456' });
        // The generator also makes addresses no mail server of the world accepts, such as !#$%@a.aa.
        if (/^[A-Za-z0-9._+-]+@/.test(address) && !/\.\.|^\.|\.@/.test(address))
          assert.ok(result.success, address);
        assert.equal(normaliseEmail(address.toUpperCase()), normaliseEmail(` ${address}`));
      }),
    );
  });

  it('take only addresses that a mail server takes: 64 octets, labels of 63', () => {
    const isTaken = (email: string) => {
      const lead = Lead.safeParse({ name: 'Ada', company: 'Engines', email, consent: true });
      const verification = Verification.safeParse({ email, code: '123456' });
      assert.equal(lead.success, verification.success);
      if (!lead.success)
        assert.deepEqual(
          lead.error.issues.map(({ message }) => message),
          ['email'],
        );
      return lead.success;
    };
    assert.equal(isTaken(`${'a'.repeat(64)}@example.com`), true);
    assert.equal(isTaken(`${'a'.repeat(65)}@example.com`), false);
    assert.equal(isTaken(`ada@${'a'.repeat(63)}.com`), true);
    assert.equal(isTaken(`ada@${'a'.repeat(64)}.com`), false);
    assert.equal(isTaken(`ada@mail.${'a'.repeat(64)}`), false);
    assert.equal(isTaken(`ada@${'abcdefg.'.repeat(32)}com`), false);
    assert.equal(isTaken('no-address'), false);
  });

  it('answer long input at once', () => {
    const long = `${'a'.repeat(100_000)}@${'a.'.repeat(50_000)}`;
    assert.equal(Lead.safeParse({ name: long, company: long, email: long, consent: true }).success, false);
  });
});
