import assert from 'node:assert/strict';
import { it } from 'node:test';

import { fateSentence } from '#desk/report/sentences.ts';

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
