import assert from 'node:assert/strict';
import { it } from 'node:test';

import { daySentence, fateSentence } from '#desk/report/sentences.ts';

it('the report says in one sentence why codes were not entered', () => {
  for (const [asked, notEntered, expected] of [
    [0, [], 'Nobody asked for a code.'],
    [2, [], 'Everyone who asked for a code entered it.'],
    [
      1,
      [{ fate: 'refused', people: 1 }],
      'Of 1 person who did not enter a code, 1 was refused by their mail server.',
    ],
    [
      4,
      [
        { fate: 'refused', people: 2 },
        { fate: 'open', people: 1 },
      ],
      'Of 3 people who did not enter a code, 2 were refused by their mail server.',
    ],
    [
      2,
      [
        { fate: 'waiting', people: 1 },
        { fate: 'unknown', people: 1 },
      ],
      'Of 2 people who did not enter a code, 1 is still waiting for a queued e-mail.',
    ],
    [
      1,
      [{ fate: 'unknown', people: 1 }],
      'Of 1 person who did not enter a code, 1 has e-mails that are no longer stored.',
    ],
    [
      1,
      [{ fate: 'not-tried', people: 1 }],
      'Of 1 person who did not enter a code, 1 got the e-mail but never tried.',
    ],
  ] as const)
    assert.equal(fateSentence({ funnel: [{ step: 'asked', people: asked }], notEntered }), expected);
});

it('the report names the best day or week, or how many were equally good', () => {
  for (const [days, leads, expected] of [
    [1, [0, 0], 'No new leads in this period.'],
    [1, [2], 'There were 2 new leads on this day.'],
    [1, [1, 3, 2], 'The best day was Friday 20 November, with 3 new leads.'],
    [1, [3, 3, 2], '2 days brought 3 new leads each.'],
    [7, [1, 3], 'The best week began on Thursday 26 November, with 3 new leads.'],
    [7, [1, 1], '2 weeks brought 1 new lead each.'],
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
