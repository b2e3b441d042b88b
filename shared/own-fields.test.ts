import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';

import type { OwnField, OwnForm } from '#shared/campaign-schema.ts';
import {
  answersByLabel,
  answerSchema,
  storedAnswers,
  labelledAnswers,
  leadSchema,
  mergedAnswers,
  stillAcceptedAnswers,
} from '#shared/own-fields.ts';
import { LeadForm } from '#shared/lead.ts';

const MESSAGES = {
  choose: 'choose',
  required: 'required',
  tooLong: 'at most {maximum}',
  notPlain: 'not plain',
  telephone: 'telephone',
  number: 'number',
  url: 'url',
  choice: 'choice',
  changed: 'changed',
};
const ADA = { name: 'Ada', company: 'Engines', email: 'ada@example.com', consent: true as const };
const field = (kind: OwnField['kind'], more: Partial<OwnField> = {}): OwnField => ({
  id: 'one',
  label: 'One',
  kind,
  ...(kind.startsWith('choice') && { options: ['A', 'B, and more', 'C'] }),
  ...more,
});

function check(asked: OwnField, typed: unknown): unknown {
  const result = answerSchema(asked, MESSAGES).safeParse(typed);
  return result.success ? { answer: result.data } : result.error.issues[0]?.message;
}

it("answerSchema tidies and accepts each kind of answer, or returns the campaign's error", () => {
  const cases: readonly (readonly [OwnField, readonly (readonly [typed: unknown, made: unknown])[]])[] = [
    [
      field('text', { maxLength: 10 }),
      [
        [' Countess ', { answer: 'Countess' }],
        [undefined, { answer: '' }],
        ['x'.repeat(11), 'at most 10'],
        ['two\nlines', 'not plain'],
        ['\u202Aa\tb\u202C', { answer: 'a b' }],
        [5, 'required'],
      ],
    ],
    [
      field('telephone'),
      [
        ['+44 (0)20 7946-0018', { answer: '+44 (0)20 7946-0018' }],
        ['030/901820', { answer: '030/901820' }],
        ['+1 202 555 0143 ext. 12', { answer: '+1 202 555 0143 ext. 12' }],
        ['＋８１（３）１２３４−５６７８', { answer: '+81(3)1234-5678' }],
        ['\u200E٠٢٠ ٧٩٤٦ ٠٠١٨', { answer: '020 7946 0018' }],
        ['030\u2011901820 – 12', { answer: '030-901820 - 12' }],
        ['1234', 'telephone'],
        ['call me', 'telephone'],
      ],
    ],
    [
      field('number'),
      [
        ['1500', { answer: '1500' }],
        ['-2', { answer: '-2' }],
        ['12,5', { answer: '12.5' }],
        ['１５００', { answer: '1500' }],
        ['۱۲٫۵', { answer: '12.5' }],
        ['1,000', 'number'],
        ['1e3', 'number'],
      ],
    ],
    [
      field('url'),
      [
        ['example.com/team', { answer: 'https://example.com/team' }],
        ['example.com:8080/x', { answer: 'https://example.com:8080/x' }],
        ['javascript:alert(1)', 'url'],
        ['javascript://example.com/%0Aalert(1)', 'url'],
        ['ftp://example.com', 'url'],
        ['example', 'url'],
        ['my site.com', 'url'],
      ],
    ],
    [
      field('choice'),
      [
        ['B, and more', { answer: 'B, and more' }],
        ['', { answer: '' }],
        ['D', 'choice'],
        [['A'], 'required'],
      ],
    ],
    [
      field('choices'),
      [
        [['A', 'C'], { answer: ['A', 'C'] }],
        [[], { answer: [] }],
        [undefined, { answer: [] }],
        [['A', 'A'], 'choice'],
        ['A', 'choice'],
      ],
    ],
    [
      field('long text', { maxLength: 20 }),
      [
        [' one\r\ntwo ', { answer: 'one\ntwo' }],
        ['x'.repeat(21), 'at most 20'],
      ],
    ],
  ];
  for (const [asked, typed] of cases)
    for (const [text, made] of typed)
      assert.deepEqual(check(asked, text), made, `${asked.kind}: ${JSON.stringify(text)}`);
});

it('answerSchema refuses an empty answer to a required question of any kind', () => {
  for (const kind of ['text', 'telephone', 'number', 'url', 'choice', 'long text'] as const)
    for (const nothing of [undefined, '', '  '].slice(0, kind === 'choice' ? 2 : 3))
      assert.equal(check(field(kind, { required: true }), nothing), 'required', kind);
  for (const nothing of [undefined, []])
    assert.equal(check(field('choices', { required: true }), nothing), 'required');
});

it('answerSchema limits the length of an answer and accepts its own output', () => {
  for (const kind of ['text', 'telephone', 'number', 'url', 'long text'] as const)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (typed) => {
        const asked = field(kind, { maxLength: 30 });
        const result = answerSchema(asked, MESSAGES).safeParse(typed);
        if (!result.success) return;
        assert.ok(result.data.length <= 30);
        assert.deepEqual(check(asked, result.data), { answer: result.data });
      }),
      { numRuns: 500 },
    );
});

it('leadSchema without custom questions is the specification’s schema', () => {
  assert.equal(leadSchema({ fields: [], messages: MESSAGES }), LeadForm);
});

it('leadSchema accepts answers to custom questions and refuses others', () => {
  const form: OwnForm = {
    fields: [field('text', { id: 'role' }), field('choices', { id: 'topics' })],
    messages: MESSAGES,
  };
  const schema = leadSchema(form);
  assert.deepEqual(schema.parse(ADA), { ...ADA, answers: { role: '', topics: [] } });
  assert.deepEqual(schema.parse({ ...ADA, extra: 1, answers: { role: 'Countess' } }), {
    ...ADA,
    answers: { role: 'Countess', topics: [] },
  });
  for (const answers of [{ phone: '1' }, 'text', ['role'], null, { __proto__: null, constructor: 'x' }])
    assert.equal(schema.safeParse({ ...ADA, answers }).success, false, JSON.stringify(answers));
});

const fields = [
  field('text', { id: 'role', label: 'Role' }),
  field('choices', { id: 'topics', label: 'Topics' }),
];

it('labelledAnswers keeps the labels of the questions', () => {
  assert.equal(storedAnswers(labelledAnswers(fields, { role: '', topics: [] })), null);
  assert.equal(storedAnswers(labelledAnswers(fields)), null);
  assert.deepEqual(labelledAnswers(fields, { role: 'Countess', topics: ['A', 'C'] }), {
    role: { label: 'Role', answer: 'Countess' },
    topics: { label: 'Topics', answer: ['A', 'C'] },
  });
});

it('mergedAnswers keeps answers to removed questions and replaces the others', () => {
  const before = storedAnswers(labelledAnswers(fields, { role: 'Countess', topics: ['A'] }));
  const after = storedAnswers(
    labelledAnswers([field('text', { id: 'role', label: 'Position' })], { role: 'Lady' }),
  );
  assert.deepEqual(answersByLabel(mergedAnswers(before, after, ['role'])), {
    Position: 'Lady',
    Topics: 'A',
  });
  assert.deepEqual(answersByLabel(mergedAnswers(before, after, ['role', 'topics'])), { Position: 'Lady' });
  assert.deepEqual(answersByLabel(mergedAnswers(before, null, [])), { Role: 'Countess', Topics: 'A' });
  assert.equal(mergedAnswers(before, null, ['role', 'topics']), null);
});

it('answersByLabel keeps each answer, whatever its label is', () => {
  const answers = ['constructor', '__proto__', 'Role', 'Role'].map((label, index) => [
    `q${index}`,
    { label, answer: String(index) },
  ]);
  assert.deepEqual(Object.entries(answersByLabel(JSON.stringify(Object.fromEntries(answers)))), [
    ['constructor', '0'],
    ['__proto__', '1'],
    ['Role', '2'],
    ['Role (q3)', '3'],
  ]);
});

it('stillAcceptedAnswers returns only answers that are still valid', () => {
  const kept = storedAnswers(labelledAnswers(fields, { role: 'Countess', topics: ['A'] }));
  const now = {
    fields: [{ ...fields[1]!, options: ['B'] }, field('text', { id: 'role' })],
    messages: MESSAGES,
  };
  assert.deepEqual(stillAcceptedAnswers(now, kept), { role: 'Countess' });
  assert.deepEqual(stillAcceptedAnswers(now, null), {});
});
