import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { changesIn, draftOf, questionsFor } from '#desk/web/person/correct-draft.ts';

const FIELDS = [
  { id: 'phone', label: 'Phone' },
  { id: 'topics', label: 'Topics' },
];
const PERSON = {
  name: 'Ada Lovelace',
  company: 'Analytical Engines',
  answers: {
    topics: { label: 'Topics', answer: ['Prompts', 'Data'] },
    team: { label: 'Team size', answer: '2 to 5' },
  },
};

describe('correcting a person', () => {
  const questions = questionsFor(PERSON, FIELDS);
  const before = draftOf(PERSON, questions);

  it('begins with what stands there, also for a question that is not asked any more', () => {
    assert.deepEqual(questions, [
      { id: 'phone', label: 'Phone', isAsked: true },
      { id: 'topics', label: 'Topics', isAsked: true },
      { id: 'team', label: 'Team size', isAsked: false },
    ]);
    assert.deepEqual(before, {
      name: 'Ada Lovelace',
      company: 'Analytical Engines',
      answers: { phone: '', topics: 'Prompts; Data', team: '2 to 5' },
    });
  });

  it('changes nothing but what is different', () => {
    assert.equal(changesIn(before, before), null);
    assert.equal(changesIn(before, { ...before, name: ' Ada Lovelace ' }), null);
    assert.deepEqual(changesIn(before, { ...before, name: 'Ada King ' }), { name: 'Ada King' });
    assert.deepEqual(
      changesIn(before, { ...before, answers: { ...before.answers, phone: '+44 20 7946 0018', team: '' } }),
      { answers: { phone: '+44 20 7946 0018', team: '' } },
    );
  });
});
