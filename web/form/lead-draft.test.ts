import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';

import * as z from 'zod/mini';

import { LeadForm } from '#shared/lead.ts';
import {
  checkDraft,
  EMPTY_DRAFT,
  forgetDraft,
  keepDraft,
  KeptText,
  readDraft,
} from '#web/form/lead-draft.ts';

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

it('checkDraft refuses a text that is too long, with its limit, and a text with several lines', () => {
  const draft = { name: 'a'.repeat(201), company: 'a\nb', email: 'ada@example.com', consent: true };
  assert.deepEqual(checkDraft(LeadForm, draft, WORDS), {
    type: 'errors',
    errors: { name: 'Name must be at most 200 characters', company: 'Company name must be one line' },
  });
});

const ADA = { name: 'Ada Lovelace', company: 'Engines', email: 'ada@example.com', consent: true };

let kept: Map<string, string>;
beforeEach(() => {
  kept = new Map();
  const sessionStorage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  Object.defineProperty(globalThis, 'sessionStorage', { value: sessionStorage, configurable: true });
});

it('readDraft restores a draft without the consent', () => {
  keepDraft(ADA);
  assert.deepEqual(readDraft(KeptText), { ...ADA, consent: false });
  assert.doesNotMatch([...kept.values()].join(), /consent|true/);
  keepDraft({ ...EMPTY_DRAFT, name: ' A' });
  assert.deepEqual(readDraft(KeptText), { ...EMPTY_DRAFT, name: ' A' });
});

it('readDraft returns null for a forgotten or an empty draft', () => {
  keepDraft(ADA);
  forgetDraft();
  assert.equal(readDraft(KeptText), null);
  keepDraft(ADA);
  keepDraft({ ...EMPTY_DRAFT, consent: true });
  assert.equal(kept.size, 0);
});

it('keepDraft stores answers to custom questions, even a single one', () => {
  const schema = z.extend(KeptText, { answers: z.record(z.string(), z.string()) });
  const draft = { ...EMPTY_DRAFT, answers: { phone: '+44' } };
  keepDraft(draft);
  assert.equal(kept.size, 1);
  assert.deepEqual(readDraft(schema), draft);
  assert.deepEqual(readDraft(KeptText), EMPTY_DRAFT);
});

it('readDraft ignores invalid content in the storage', () => {
  keepDraft(ADA);
  const [key = ''] = kept.keys();
  const partly = ['{"name":"Ada"}', '{"name":1,"company":"","email":""}'];
  for (const other of ['', '{', 'null', '[]', '"text"', ...partly]) {
    kept.set(key, other);
    assert.equal(readDraft(KeptText), null, other);
  }
  kept.set(key, JSON.stringify({ ...ADA, isAdmin: true }));
  assert.deepEqual(readDraft(KeptText), { ...ADA, consent: false });
});

it('draft functions work without storage', () => {
  const get = () => {
    throw new DOMException('Forbidden', 'SecurityError');
  };
  Object.defineProperty(globalThis, 'sessionStorage', { get, configurable: true });
  assert.equal(readDraft(KeptText), null);
  assert.doesNotThrow(() => keepDraft(ADA));
  assert.doesNotThrow(() => forgetDraft());
});
