import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { LeadForm } from '#shared/lead.ts';
import { checkDraft, EMPTY_DRAFT } from '#web/form/lead-draft.ts';

const WORDS = {
  nameTooShort: 'Name must be at least {minimum} characters',
  nameTooLong: 'Name must be at most {maximum} characters',
  nameNotOneLine: 'Name must be one line',
  companyTooShort: 'Company name must be at least {minimum} characters',
  companyTooLong: 'Company name must be at most {maximum} characters',
  companyNotOneLine: 'Company name must be one line',
  email: 'Please enter a valid email address',
  consent: 'You must agree to receive emails',
};

describe('form draft', () => {
  it('checkDraft refuses every field of the empty default draft', () => {
    assert.deepEqual(EMPTY_DRAFT, { name: '', company: '', email: '', consent: false });
    assert.deepEqual(checkDraft(LeadForm, EMPTY_DRAFT, WORDS), {
      type: 'errors',
      errors: {
        name: 'Name must be at least 2 characters',
        company: 'Company name must be at least 2 characters',
        email: 'Please enter a valid email address',
        consent: 'You must agree to receive emails',
      },
    });
  });

  it('checkDraft returns a valid lead with trimmed values', () => {
    const typed = { name: ' Ada ', company: ' Engines', email: ' Ada@example.com ', consent: true };
    const check = checkDraft(LeadForm, typed, WORDS);
    assert.deepEqual(check, {
      type: 'lead',
      lead: { name: 'Ada', company: 'Engines', email: 'Ada@example.com', consent: true },
    });
  });

  it('checkDraft describes each error in the words of the campaign', () => {
    const line = (name: string, company: string) =>
      checkDraft(LeadForm, { name, company, email: 'ada@example.com', consent: true }, WORDS);
    assert.deepEqual(line('a'.repeat(201), 'a\nb'), {
      type: 'errors',
      errors: { name: 'Name must be at most 200 characters', company: 'Company name must be one line' },
    });
    assert.deepEqual(line('a\nb', 'a'.repeat(201)), {
      type: 'errors',
      errors: { name: 'Name must be one line', company: 'Company name must be at most 200 characters' },
    });
  });
});
