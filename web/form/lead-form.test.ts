import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { checkDraft, EMPTY_DRAFT, firstInvalidField } from '#web/form/lead-form.ts';

describe('the form', () => {
  it('starts empty, without consent, and complains about everything', () => {
    assert.deepEqual(EMPTY_DRAFT, { name: '', company: '', email: '', consent: false });
    assert.deepEqual(checkDraft(EMPTY_DRAFT), {
      type: 'errors',
      errors: {
        name: 'Name must be at least 2 characters',
        company: 'Company name must be at least 2 characters',
        email: 'Please enter a valid email address',
        consent: 'You must agree to receive emails',
      },
    });
  });

  it('hands on what is right, trimmed', () => {
    const check = checkDraft({
      name: ' Ada ',
      company: ' Engines',
      email: ' Ada@example.com ',
      consent: true,
    });
    assert.deepEqual(check, {
      type: 'lead',
      lead: { name: 'Ada', company: 'Engines', email: 'Ada@example.com', consent: true },
    });
  });

  it('looks at the first wrong field first', () => {
    assert.equal(firstInvalidField({ consent: 'x', email: 'y' }), 'email');
    assert.equal(firstInvalidField({ consent: 'x' }), 'consent');
    assert.equal(firstInvalidField({}), undefined);
  });
});
