import assert from 'node:assert/strict';
import { it } from 'node:test';

import { changesIn, draftOf, questionsFor } from '#desk/web/person/correct-draft.ts';

const FIELDS = [
  { id: 'phone', label: 'Phone', options: null, areSeveral: false },
  { id: 'topics', label: 'Topics', options: ['Tools', 'Prompts'], areSeveral: true },
];
const PERSON = {
  name: 'Ada Lovelace',
  company: 'Analytical Engines',
  answers: {
    topics: { label: 'Topics', answer: ['Prompts', 'Data'] },
    team: { label: 'Team size', answer: '2 to 5' },
  },
};

const questions = questionsFor(PERSON, FIELDS);
const before = draftOf(PERSON, questions);

it('a correction starts with the current answers, including those to removed questions', () => {
  assert.deepEqual(questions, [
    { ...FIELDS[0], isAsked: true },
    { ...FIELDS[1], isAsked: true },
    { id: 'team', label: 'Team size', options: null, areSeveral: false, isAsked: false },
  ]);
  assert.deepEqual(before, {
    name: 'Ada Lovelace',
    company: 'Analytical Engines',
    answers: { phone: '', topics: 'Prompts; Data', team: '2 to 5' },
  });
});

it('a correction sends only changed answers', () => {
  assert.equal(changesIn(before, before), null);
  assert.equal(changesIn(before, { ...before, name: ' Ada Lovelace ' }), null);
  assert.deepEqual(changesIn(before, { ...before, name: 'Ada King ' }), { name: 'Ada King' });
  assert.deepEqual(
    changesIn(before, { ...before, answers: { ...before.answers, phone: '+44 20 7946 0018', team: '' } }),
    { answers: { phone: '+44 20 7946 0018', team: '' } },
  );
});
