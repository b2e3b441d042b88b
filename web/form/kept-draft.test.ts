import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import * as z from 'zod/mini';

import { forgetDraft, keepDraft, KeptText, readDraft } from '#web/form/kept-draft.ts';
import { EMPTY_DRAFT } from '#web/form/lead-draft.ts';

const ADA = { name: 'Ada Lovelace', company: 'Engines', email: 'ada@example.com', consent: true };

function createStorage() {
  const kept = new Map<string, string>();
  return {
    kept,
    storage: () => ({
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    }),
  };
}
const forbidden = () => {
  throw new Error('storage is forbidden');
};

describe('stored draft', () => {
  it('readDraft restores a draft without the consent', () => {
    const { storage, kept } = createStorage();
    keepDraft(storage, ADA);
    assert.deepEqual(readDraft(storage, KeptText), { ...ADA, consent: false });
    assert.doesNotMatch([...kept.values()].join(), /consent|true/);
    keepDraft(storage, { ...EMPTY_DRAFT, name: ' A' });
    assert.deepEqual(readDraft(storage, KeptText), { ...EMPTY_DRAFT, name: ' A' });
  });

  it('readDraft returns null for a forgotten or an empty draft', () => {
    const { storage, kept } = createStorage();
    keepDraft(storage, ADA);
    forgetDraft(storage);
    assert.equal(readDraft(storage, KeptText), null);
    keepDraft(storage, ADA);
    keepDraft(storage, { ...EMPTY_DRAFT, consent: true });
    assert.equal(kept.size, 0);
  });

  it('keepDraft stores answers to custom questions, even a single one', () => {
    const { storage, kept } = createStorage();
    const schema = z.extend(KeptText, { answers: z.record(z.string(), z.string()) });
    const draft = { ...EMPTY_DRAFT, answers: { phone: '+44' } };
    keepDraft(storage, draft);
    assert.equal(kept.size, 1);
    assert.deepEqual(readDraft(storage, schema), draft);
    assert.deepEqual(readDraft(storage, KeptText), EMPTY_DRAFT);
  });

  it('readDraft ignores invalid content in the storage', () => {
    const { storage, kept } = createStorage();
    keepDraft(storage, ADA);
    const [key = ''] = kept.keys();
    for (const other of [
      '',
      '{',
      'null',
      '[]',
      '"text"',
      '{"name":"Ada"}',
      '{"name":1,"company":"","email":""}',
    ]) {
      kept.set(key, other);
      assert.equal(readDraft(storage, KeptText), null, other);
    }
    kept.set(key, JSON.stringify({ ...ADA, isAdmin: true }));
    assert.deepEqual(readDraft(storage, KeptText), { ...ADA, consent: false });
  });

  it('draft functions work without storage', () => {
    assert.equal(readDraft(forbidden, KeptText), null);
    assert.doesNotThrow(() => keepDraft(forbidden, ADA));
    assert.doesNotThrow(() => forgetDraft(forbidden));
  });
});
