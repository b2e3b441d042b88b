import assert from 'node:assert/strict';
import { it } from 'node:test';

import { answerSentence, daySentence, notEnteredSentence, sourceSentence } from '#desk/report/sentences.ts';

it('the report says in one sentence why codes were not entered', () => {
  for (const [asked, notEntered, expected] of [
    [0, [], 'Nobody asked for a code.'],
    [2, [], 'Everyone who asked for a code entered it.'],
    [1, [{ status: 'refused', people: 1 }], 'Most common of 1 person: Refused by the mail server (1).'],
    [
      4,
      [
        { status: 'open', people: 1 },
        { status: 'not-tried', people: 2 },
      ],
      'Most common of 3 people: Got the e-mail but never tried (2).',
    ],
  ] as const)
    assert.equal(notEnteredSentence({ funnel: [{ step: 'asked', people: asked }], notEntered }), expected);
});

it('the report names the best day or week', () => {
  for (const [days, leads, expected] of [
    [1, [0, 0], 'No new leads in this period.'],
    [1, [1, 3, 2], 'The best day was Friday 20 November, with 3 new leads.'],
    [7, [1, 3], 'The best week began on Thursday 26 November, with 3 new leads.'],
  ] as const) {
    const byDay = leads.map((count, at) => ({
      day: `2026-11-${19 + at * days}`,
      days,
      seen: null,
      asked: 0,
      entered: 0,
      leads: count,
    }));
    const sum = leads.reduce<number>((all, count) => all + count, 0);
    assert.equal(daySentence({ byDay, leads: sum }), expected);
  }
});

it('the report mentions that leads chose answers that the form no longer offers', () => {
  const sentence = (others: number) =>
    answerSentence(
      {
        id: 'team',
        label: 'Team',
        areSeveral: false,
        rows: [
          { name: 'Sales', leads: 0 },
          { name: 'other answers', leads: others },
          { name: 'no answer', leads: 5 - others },
        ],
      },
      5,
    );
  assert.equal(sentence(0), 'None of the new leads chose an answer.');
  assert.equal(sentence(2), 'None of the new leads chose an answer that the form still offers.');
});

it('the report does not say that no source brought leads if their sources are hidden', () => {
  const sentence = (leads: number) =>
    sourceSentence({
      bySource: [
        { name: 'newsletter', seen: 9, asked: 2, entered: 0, leads: 0 },
        { name: 'others', seen: 9, asked: 2, entered: leads, leads },
      ],
      leads,
      viewsFrom: null,
    });
  assert.equal(sentence(0), 'No source brought any new leads.');
  assert.equal(sentence(1), 'All new leads came from sources that the report does not name.');
});
